-- Keys belong to any mutation: its operation, and the result that the database generated. Those of pets import belong to no
-- API key (0), so the record that stood for one is deleted.
CREATE TABLE new_idempotency_keys (
  id INTEGER PRIMARY KEY,
  api_key_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  operation TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  result TEXT NOT NULL,
  created_at TEXT NOT NULL,
  CONSTRAINT idempotency_keys_key_length CHECK (length(key) BETWEEN 1 AND 255),
  CONSTRAINT idempotency_keys_fingerprint_sha256 CHECK (length(fingerprint) = 64),
  CONSTRAINT idempotency_keys_created_at_iso8601 CHECK (created_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(created_at, 1, 23) || 'Z'))
) STRICT;

INSERT INTO new_idempotency_keys (id, api_key_id, key, operation, fingerprint, result, created_at)
SELECT
  idempotency_keys.id,
  CASE WHEN api_keys.hash = 'pets import-----------------------------------------------------' THEN 0 ELSE api_key_id END,
  key,
  'pets.create',
  fingerprint,
  '{"id":' || pet_id || '}',
  idempotency_keys.created_at
FROM idempotency_keys LEFT JOIN api_keys ON api_keys.id = api_key_id;

DROP TABLE idempotency_keys;
ALTER TABLE new_idempotency_keys RENAME TO idempotency_keys;
CREATE UNIQUE INDEX idempotency_keys_key ON idempotency_keys (api_key_id, key);
DELETE FROM api_keys WHERE hash = 'pets import-----------------------------------------------------';
