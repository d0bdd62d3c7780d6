ALTER TABLE api_keys ADD COLUMN access text NOT NULL DEFAULT 'write' CONSTRAINT api_keys_access_known CHECK (access IN ('read', 'write'));

-- As for every table whose rows the service inserts in the order of their ids.
CREATE FUNCTION api_keys_take_turns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1346720851, 2);
  RETURN NULL;
END
$$;

CREATE TRIGGER api_keys_take_turns BEFORE INSERT ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION api_keys_take_turns();

-- Earlier releases listened to it.
DROP TRIGGER api_keys_tell_changes ON api_keys;
DROP FUNCTION api_keys_tell_changes;
