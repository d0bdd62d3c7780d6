import { type IdempotencyKey, isRemembered, type Original, planSweep, sweepRows } from '../collection/idempotency.ts'
import type { Queries } from './collection.ts'

interface UsedKey extends Original, IdempotencyKey {
  createdAt: Date
}

const used = {
  name: 'used idempotency keys',
  text: `SELECT id, api_key_id AS owner, key, operation, fingerprint, result, created_at AS "createdAt"
    FROM idempotency_keys WHERE (api_key_id, key) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))`,
}
const oldest = {
  name: 'oldest idempotency keys',
  text: 'SELECT id, created_at AS "createdAt" FROM idempotency_keys WHERE id > $1 ORDER BY id LIMIT $2',
}
const removal = {
  name: 'expired idempotency keys',
  text: 'DELETE FROM idempotency_keys WHERE id = ANY ($1::bigint[])',
}
const insertion = {
  name: 'new idempotency keys',
  text: `INSERT INTO idempotency_keys (api_key_id, key, operation, fingerprint, result, created_at)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])`,
}

/** Prepares the table of idempotency keys. Call it under the advisory lock of inserts. */
export function prepareIdempotencyKeys() {
  let sweptTo = 0n

  async function remove(client: Queries, ids: bigint[]): Promise<void> {
    if (ids.length > 0) await client.query({ ...removal, values: [ids] })
  }

  return {
    /** Resolves to the first results of the keys that were used before, by {@link textOfKey}, and deletes expired keys. */
    async find(client: Queries, keys: IdempotencyKey[], now: Date): Promise<Map<string, Original>> {
      const values = [keys.map(({ owner }) => owner), keys.map(({ key }) => key)]
      const { rows } = await client.query<UsedKey & { id: bigint }>({ ...used, values })
      const remembered = rows.filter((row) => isRemembered(row.createdAt, now))
      const expired = rows.filter((row) => !remembered.includes(row)).map(({ id }) => id)
      await remove(client, expired)
      return new Map(remembered.map((row) => [textOfKey(row), row]))
    },
    async add(client: Queries, rows: UsedKey[], now: Date): Promise<void> {
      if (rows.length === 0) return
      const limit = sweepRows * rows.length
      const first = await client.query<{ id: bigint; createdAt: Date }>({ ...oldest, values: [sweptTo, limit] })
      const plan = planSweep(first.rows, limit, now)
      await remove(client, plan.expired)
      sweptTo = plan.sweptTo
      const fields = ['owner', 'key', 'operation', 'fingerprint', 'result', 'createdAt'] as const
      await client.query({ ...insertion, values: fields.map((field) => rows.map((row) => row[field])) })
    },
  }
}

export function textOfKey({ owner, key }: IdempotencyKey): string {
  return `${owner} ${key}`
}
