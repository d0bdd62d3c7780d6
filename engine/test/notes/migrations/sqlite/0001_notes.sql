CREATE TABLE books (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL,
  added_at TEXT NOT NULL,
  shelf TEXT,
  author TEXT,
  pages INTEGER,
  is_lent INTEGER NOT NULL,
  CONSTRAINT books_added_at_iso8601 CHECK (added_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(added_at, 1, 23) || 'Z'))
) STRICT;

CREATE UNIQUE INDEX books_title ON books (title);
CREATE INDEX books_by_time ON books (added_at);
CREATE INDEX books_by_shelf ON books (shelf);
CREATE INDEX books_by_pages ON books (pages);
CREATE INDEX books_by_loan ON books (is_lent);

CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  body TEXT NOT NULL,
  priority INTEGER NOT NULL,
  state TEXT NOT NULL,
  due_at TEXT,
  book_id INTEGER REFERENCES books (id),
  CONSTRAINT notes_id_positive CHECK (id > 0),
  CONSTRAINT notes_body_length CHECK (length(body) BETWEEN 1 AND 255),
  CONSTRAINT notes_body_not_blank CHECK (trim(body, char(32, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288, 65279)) <> ''),
  CONSTRAINT notes_body_no_control_characters CHECK (instr(body, char(0)) = 0 AND body NOT GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*'),
  CONSTRAINT notes_state_known CHECK (state IN ('open', 'waiting', 'done')),
  CONSTRAINT notes_due_at_iso8601 CHECK (due_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(due_at, 1, 23) || 'Z'))
) STRICT;

CREATE INDEX notes_by_state ON notes (state);
