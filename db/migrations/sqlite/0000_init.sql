CREATE TABLE pets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  category_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  CONSTRAINT pets_id_positive CHECK (id > 0),
  CONSTRAINT pets_name_length CHECK (length(name) BETWEEN 1 AND 255),
  CONSTRAINT pets_name_not_blank CHECK (trim(name, char(32, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288, 65279)) <> ''),
  CONSTRAINT pets_name_no_control_characters CHECK (instr(name, char(0)) = 0 AND name NOT GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*'),
  CONSTRAINT pets_status_known CHECK (status IN ('available', 'pending', 'sold'))
) STRICT;

CREATE INDEX pets_by_status ON pets (status);

CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  start TEXT NOT NULL,
  hash TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  revoked_at TEXT,
  last_used_at TEXT,
  CONSTRAINT api_keys_hash_sha256 CHECK (length(hash) = 64)
) STRICT;

CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);

CREATE UNIQUE INDEX api_keys_unrevoked_name ON api_keys (name) WHERE revoked_at IS NULL;
