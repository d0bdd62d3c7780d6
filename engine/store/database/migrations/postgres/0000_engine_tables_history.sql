CREATE TABLE history (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz(3) NOT NULL,
  key_name text,
  collection text NOT NULL,
  row_id bigint NOT NULL,
  before text NOT NULL,
  after text,
  CONSTRAINT history_at_in_range CHECK (at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z')
);

CREATE INDEX history_by_collection ON history (collection, id);
CREATE INDEX history_by_row ON history (collection, row_id, id);
CREATE INDEX history_by_time ON history (at, id);
