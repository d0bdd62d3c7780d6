-- The table of idempotency keys comes first, as in the transactions of instances that still run: their inserts lock it
-- before they look up the API key.
UPDATE idempotency_keys SET created_at = '1970-01-01T00:00:00Z' WHERE created_at NOT BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z';
ALTER TABLE idempotency_keys
  ADD CONSTRAINT idempotency_keys_created_at_in_range CHECK (created_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z');

-- The service cannot read infinity, years BC and years beyond 9999. They must not grant access: such an expiry becomes a
-- time in the past, and a key whose creation time is unreadable expires, too.
UPDATE api_keys SET expires_at = '1970-01-01T00:00:00Z' WHERE expires_at NOT BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z' OR created_at NOT BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z';
UPDATE api_keys SET created_at = '1970-01-01T00:00:00Z' WHERE created_at NOT BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z';
UPDATE api_keys SET revoked_at = '1970-01-01T00:00:00Z' WHERE revoked_at NOT BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z';
UPDATE api_keys SET last_used_at = NULL WHERE last_used_at NOT BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z';
ALTER TABLE api_keys
  ADD CONSTRAINT api_keys_created_at_in_range CHECK (created_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'),
  ADD CONSTRAINT api_keys_expires_at_in_range CHECK (expires_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'),
  ADD CONSTRAINT api_keys_revoked_at_in_range CHECK (revoked_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'),
  ADD CONSTRAINT api_keys_last_used_at_in_range CHECK (last_used_at BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z');
