CREATE TABLE books (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX books_title ON books (title);

CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  priority INTEGER NOT NULL,
  due_at TEXT,
  book_id INTEGER REFERENCES books (id),
  created_at TEXT NOT NULL,
  CONSTRAINT notes_state_known CHECK (state IN ('open', 'done')),
  CONSTRAINT notes_due_at_iso8601 CHECK (due_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(due_at, 1, 23) || 'Z')),
  CONSTRAINT notes_created_at_iso8601 CHECK (created_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(created_at, 1, 23) || 'Z'))
) STRICT;

CREATE INDEX notes_by_state ON notes (state);
