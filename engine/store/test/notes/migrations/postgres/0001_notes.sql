CREATE TABLE books (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title text NOT NULL,
  CONSTRAINT books_title UNIQUE (title)
);

CREATE TABLE notes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  body text NOT NULL,
  state text NOT NULL,
  priority bigint NOT NULL,
  due_at timestamptz(3),
  book_id bigint CONSTRAINT notes_book_id_books_id_fk REFERENCES books (id),
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT notes_state_known CHECK (state IN ('open', 'done')),
  CONSTRAINT notes_due_at_in_range CHECK (due_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'),
  CONSTRAINT notes_created_at_in_range CHECK (created_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z')
);

CREATE INDEX notes_by_state ON notes (state, id);

-- Takes the advisory lock of inserts until the commit, so that ids become visible in ascending order.
CREATE FUNCTION notes_take_turns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1346720851, 2);
  RETURN NULL;
END
$$;

CREATE TRIGGER books_take_turns BEFORE INSERT ON books FOR EACH STATEMENT EXECUTE FUNCTION notes_take_turns();
CREATE TRIGGER notes_take_turns BEFORE INSERT ON notes FOR EACH STATEMENT EXECUTE FUNCTION notes_take_turns();
