ALTER TABLE api_keys ADD COLUMN access TEXT NOT NULL DEFAULT 'write' CONSTRAINT api_keys_access_known CHECK (access IN ('read', 'write'));
