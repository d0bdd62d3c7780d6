CREATE TABLE books (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  title text NOT NULL,
  added_at timestamptz(3) NOT NULL,
  shelf text,
  author text,
  pages bigint,
  is_lent boolean NOT NULL,
  CONSTRAINT books_title UNIQUE (title),
  CONSTRAINT books_added_at_in_range CHECK (added_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z')
);

CREATE INDEX books_by_time ON books (added_at, id);
CREATE INDEX books_by_shelf ON books (shelf, id);
CREATE INDEX books_by_pages ON books (pages, id);
CREATE INDEX books_by_loan ON books (is_lent, id);

CREATE TABLE notes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  body text NOT NULL,
  priority bigint NOT NULL,
  state text NOT NULL,
  due_at timestamptz(3),
  book_id bigint CONSTRAINT notes_book_id_books_id_fk REFERENCES books (id),
  CONSTRAINT notes_id_positive CHECK (id > 0),
  CONSTRAINT notes_body_length CHECK (length(body) BETWEEN 1 AND 255),
  CONSTRAINT notes_body_not_blank CHECK (btrim(body, E'\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff') <> ''),
  CONSTRAINT notes_body_no_control_characters CHECK (body !~ '[\u0001-\u001f\u007f-\u009f]'),
  CONSTRAINT notes_state_known CHECK (state IN ('open', 'waiting', 'done')),
  CONSTRAINT notes_due_at_in_range CHECK (due_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z')
);

CREATE INDEX notes_by_state ON notes (state, id);

CREATE TRIGGER books_take_turns BEFORE INSERT ON books FOR EACH STATEMENT EXECUTE FUNCTION take_turns();
CREATE TRIGGER notes_take_turns BEFORE INSERT ON notes FOR EACH STATEMENT EXECUTE FUNCTION take_turns();
