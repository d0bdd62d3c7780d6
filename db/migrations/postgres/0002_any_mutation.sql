-- Keys belong to any mutation: its operation, and the result that the database generated. Those of pets import belong to no
-- API key (0), so the record that stood for one is deleted.
ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_api_key_id_fkey;
ALTER TABLE idempotency_keys ADD COLUMN operation text, ADD COLUMN result text;
UPDATE idempotency_keys SET operation = 'pets.create', result = '{"id":' || pet_id || '}';
UPDATE idempotency_keys SET api_key_id = 0 WHERE api_key_id IN (SELECT id FROM api_keys WHERE hash = 'pets import-----------------------------------------------------');
ALTER TABLE idempotency_keys
  DROP COLUMN pet_id,
  ALTER COLUMN operation SET NOT NULL,
  ALTER COLUMN result SET NOT NULL;
DELETE FROM api_keys WHERE hash = 'pets import-----------------------------------------------------';
