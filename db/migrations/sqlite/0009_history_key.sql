ALTER TABLE history ADD COLUMN idempotency_key TEXT;
