CREATE TABLE history (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  key_name TEXT,
  collection TEXT NOT NULL,
  row_id INTEGER NOT NULL,
  before TEXT NOT NULL,
  after TEXT,
  CONSTRAINT history_at_iso8601 CHECK (at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(at, 1, 23) || 'Z'))
) STRICT;

CREATE INDEX history_by_collection ON history (collection);
CREATE INDEX history_by_row ON history (collection, row_id);
CREATE INDEX history_by_time ON history (at);
