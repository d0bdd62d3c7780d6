CREATE TABLE pets (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  category_id bigint NOT NULL,
  status text NOT NULL,
  CONSTRAINT pets_id_positive CHECK (id > 0),
  CONSTRAINT pets_name_length CHECK (length(name) BETWEEN 1 AND 255),
  CONSTRAINT pets_name_not_blank CHECK (btrim(name, E'\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff') <> ''),
  CONSTRAINT pets_name_no_control_characters CHECK (name !~ '[\u0001-\u001f\u007f-\u009f]'),
  CONSTRAINT pets_status_known CHECK (status IN ('available', 'pending', 'sold'))
);

CREATE INDEX pets_by_status ON pets (status, id);

-- An id is given before its transaction commits. Without turns a higher id could be seen before a lower one, and whoever
-- pages by id would skip the lower for good. The lock is held until the rows can be seen by all.
CREATE FUNCTION pets_take_turns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(1346720851, 2);
  RETURN NULL;
END
$$;

CREATE TRIGGER pets_take_turns BEFORE INSERT ON pets FOR EACH STATEMENT EXECUTE FUNCTION pets_take_turns();

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
  CONSTRAINT api_keys_hash_sha256 CHECK (length(hash) = 64)
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
  api_key_id bigint NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  key text NOT NULL,
  fingerprint text NOT NULL,
  pet_id bigint NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT idempotency_keys_key_length CHECK (length(key) BETWEEN 1 AND 255),
  CONSTRAINT idempotency_keys_fingerprint_sha256 CHECK (length(fingerprint) = 64)
);

CREATE UNIQUE INDEX idempotency_keys_key ON idempotency_keys (api_key_id, key);
