CREATE TABLE new_idempotency_keys (
  id INTEGER PRIMARY KEY,
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  pet_id INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  CONSTRAINT idempotency_keys_key_length CHECK (length(key) BETWEEN 1 AND 255),
  CONSTRAINT idempotency_keys_fingerprint_sha256 CHECK (length(fingerprint) = 64)
) STRICT;

INSERT INTO new_idempotency_keys (id, api_key_id, key, fingerprint, pet_id, created_at)
SELECT id, api_key_id, key, fingerprint, pet_id, created_at FROM idempotency_keys;

DROP TABLE idempotency_keys;
ALTER TABLE new_idempotency_keys RENAME TO idempotency_keys;
CREATE UNIQUE INDEX idempotency_keys_key ON idempotency_keys (api_key_id, key);
