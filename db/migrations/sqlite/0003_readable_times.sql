-- Times that are not written as YYYY-MM-DDTHH:MM:SS.sssZ. SQLite's other forms of a date are converted, without a zone as
-- UTC. All else is unreadable and must not grant access: such an expiry becomes a time in the past, and a key whose
-- creation time is unreadable expires, too.
UPDATE api_keys SET expires_at = '1970-01-01T00:00:00.000Z' WHERE (CASE WHEN created_at GLOB '????-??-??*' THEN strftime('%Y-%m-%dT%H:%M:%fZ', created_at) END) IS NULL;
UPDATE api_keys SET created_at = coalesce(CASE WHEN created_at GLOB '????-??-??*' THEN strftime('%Y-%m-%dT%H:%M:%fZ', created_at) END, '1970-01-01T00:00:00.000Z') WHERE NOT (created_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(created_at, 1, 23) || 'Z'));
UPDATE api_keys SET expires_at = coalesce(CASE WHEN expires_at GLOB '????-??-??*' THEN strftime('%Y-%m-%dT%H:%M:%fZ', expires_at) END, '1970-01-01T00:00:00.000Z') WHERE NOT (expires_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(expires_at, 1, 23) || 'Z'));
UPDATE api_keys SET revoked_at = coalesce(CASE WHEN revoked_at GLOB '????-??-??*' THEN strftime('%Y-%m-%dT%H:%M:%fZ', revoked_at) END, '1970-01-01T00:00:00.000Z') WHERE NOT (revoked_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(revoked_at, 1, 23) || 'Z'));
UPDATE api_keys SET last_used_at = CASE WHEN last_used_at GLOB '????-??-??*' THEN strftime('%Y-%m-%dT%H:%M:%fZ', last_used_at) END WHERE NOT (last_used_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(last_used_at, 1, 23) || 'Z'));
UPDATE idempotency_keys SET created_at = coalesce(CASE WHEN created_at GLOB '????-??-??*' THEN strftime('%Y-%m-%dT%H:%M:%fZ', created_at) END, '1970-01-01T00:00:00.000Z') WHERE NOT (created_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(created_at, 1, 23) || 'Z'));

CREATE TABLE new_api_keys (
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

INSERT INTO new_api_keys (id, name, start, hash, created_at, expires_at, revoked_at, last_used_at)
SELECT id, name, start, hash, created_at, expires_at, revoked_at, last_used_at FROM api_keys;

-- The ids of deleted keys are not given again.
DELETE FROM sqlite_sequence WHERE name = 'new_api_keys';
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_api_keys', seq FROM sqlite_sequence WHERE name = 'api_keys';

DROP TABLE api_keys;
ALTER TABLE new_api_keys RENAME TO api_keys;
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
CREATE UNIQUE INDEX api_keys_unrevoked_name ON api_keys (name) WHERE revoked_at IS NULL;

CREATE TABLE new_idempotency_keys (
  id INTEGER PRIMARY KEY,
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  pet_id INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  CONSTRAINT idempotency_keys_key_length CHECK (length(key) BETWEEN 1 AND 255),
  CONSTRAINT idempotency_keys_fingerprint_sha256 CHECK (length(fingerprint) = 64),
  CONSTRAINT idempotency_keys_created_at_iso8601 CHECK (created_at IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(created_at, 1, 23) || 'Z'))
) STRICT;

INSERT INTO new_idempotency_keys (id, api_key_id, key, fingerprint, pet_id, created_at)
SELECT id, api_key_id, key, fingerprint, pet_id, created_at FROM idempotency_keys;

DROP TABLE idempotency_keys;
ALTER TABLE new_idempotency_keys RENAME TO idempotency_keys;
CREATE UNIQUE INDEX idempotency_keys_key ON idempotency_keys (api_key_id, key);
