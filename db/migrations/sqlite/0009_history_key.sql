ALTER TABLE `history` ADD `idempotency_key` text;
