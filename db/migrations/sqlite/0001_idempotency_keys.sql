CREATE TABLE idempotency_keys (
  id INTEGER PRIMARY KEY,
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id),
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  pet_id INTEGER NOT NULL REFERENCES pets (id),
  created_at TEXT NOT NULL,
  CONSTRAINT idempotency_keys_key_length CHECK (length(key) BETWEEN 1 AND 255),
  CONSTRAINT idempotency_keys_fingerprint_sha256 CHECK (length(fingerprint) = 64)
) STRICT;

CREATE UNIQUE INDEX idempotency_keys_key ON idempotency_keys (api_key_id, key);
