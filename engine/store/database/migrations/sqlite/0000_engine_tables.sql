CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  start TEXT NOT NULL,
  hash TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT,
  last_used_at TEXT,
  CONSTRAINT api_keys_hash_sha256 CHECK (length(hash) = 64),
  CONSTRAINT api_keys_created_at_iso8601 CHECK (created_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(created_at, 1, 23) || 'Z')),
  CONSTRAINT api_keys_expires_at_iso8601 CHECK (expires_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(expires_at, 1, 23) || 'Z')),
  CONSTRAINT api_keys_revoked_at_iso8601 CHECK (revoked_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(revoked_at, 1, 23) || 'Z')),
  CONSTRAINT api_keys_last_used_at_iso8601 CHECK (last_used_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(last_used_at, 1, 23) || 'Z'))
) STRICT;

CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE UNIQUE INDEX api_keys_unrevoked_name ON api_keys (name) WHERE revoked_at IS NULL;

CREATE TABLE idempotency_keys (
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

CREATE UNIQUE INDEX idempotency_keys_key ON idempotency_keys (api_key_id, key);
