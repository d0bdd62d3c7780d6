-- For a trigger before the inserts of a table. An id is given before its transaction commits: without the lock, a higher id
-- could be seen before a lower one, which a list that is read in pages would skip.
CREATE FUNCTION take_turns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1346720851, 2);
  RETURN NULL;
END
$$;
