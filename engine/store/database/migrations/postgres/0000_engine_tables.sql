CREATE TABLE api_keys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  start text NOT NULL,
  hash text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  CONSTRAINT api_keys_hash UNIQUE (hash),
  CONSTRAINT api_keys_hash_sha256 CHECK (length(hash) = 64),
  CONSTRAINT api_keys_created_at_in_range CHECK (created_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'),
  CONSTRAINT api_keys_expires_at_in_range CHECK (expires_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'),
  CONSTRAINT api_keys_revoked_at_in_range CHECK (revoked_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'),
  CONSTRAINT api_keys_last_used_at_in_range CHECK (last_used_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z')
);

CREATE UNIQUE INDEX api_keys_unrevoked_name ON api_keys (name) WHERE revoked_at IS NULL;

-- Instances remember API keys for a moment, and listen for this to forget them. The note of a key's use is no change.
CREATE FUNCTION api_keys_tell_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NOTIFY api_keys;
  RETURN NULL;
END
$$;

CREATE TRIGGER api_keys_tell_changes AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF name, start, hash, created_at, expires_at, revoked_at ON api_keys FOR EACH STATEMENT EXECUTE FUNCTION api_keys_tell_changes();

CREATE TABLE idempotency_keys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  api_key_id bigint NOT NULL,
  key text NOT NULL,
  operation text NOT NULL,
  fingerprint text NOT NULL,
  result text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT idempotency_keys_key_length CHECK (length(key) BETWEEN 1 AND 255),
  CONSTRAINT idempotency_keys_fingerprint_sha256 CHECK (length(fingerprint) = 64),
  CONSTRAINT idempotency_keys_created_at_in_range CHECK (created_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z')
);

CREATE UNIQUE INDEX idempotency_keys_key ON idempotency_keys (api_key_id, key);
