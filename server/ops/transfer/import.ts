import { createHash, hash } from 'node:crypto'
import { IdempotencyKeyReused, noApiKey } from '../../../db/store.ts'
import { OperatorError } from '../operator-error.ts'
import { createBatches } from './batches.ts'
import { type Check, readRows } from './check.ts'
import type { Format } from './format.ts'
import type { Input } from './input.ts'
import type { ItemStore, Resource } from './resource.ts'
import type { CheckedRow } from './rows.ts'

interface ImportOptions {
  format: Format
  check: Check
  /** Replaces the SHA-256 of the input in the idempotency keys. */
  key?: string | undefined
  /** Called with the number of items that are stored. */
  onProgress?: ((items: number) => void) | undefined
}

/**
 * Creates an item for each valid line, in their order. Each has an idempotency key, so a repeated import creates only what
 * is missing.
 *
 * @throws {OperatorError} if the import stops before its end.
 */
export async function importItems<New>(
  resource: Resource<New>,
  items: ItemStore<New>,
  input: Input,
  { format, check, key, onProgress }: ImportOptions,
) {
  const namespace = key === undefined ? check.sha256 : hash('sha256', `--key ${key}`)
  const digest = createHash('sha256')
  let [done, existing] = [0, 0]

  async function create({ line, item }: { line: number; item: New }): Promise<void> {
    try {
      const onReplay = () => void existing++
      await items.create(item, { apiKeyId: noApiKey, key: `${namespace}:${line}`, onReplay })
      done++
    } catch (error) {
      throw error instanceof IdempotencyKeyReused ? reused(line) : error
    }
  }

  await createBatches(validRows(readRows(resource, input, format, digest)), create, {
    noun: resource,
    onProgress,
    advice: `Run the command again within 24 hours: it creates only the missing ${resource.plural}.`,
  })
  if (digest.digest('hex') !== check.sha256) {
    throw new OperatorError(
      `${input.name} changed while it was imported. Check which of its ${resource.plural} were created.`,
    )
  }
  return { created: done - existing, existing }
}

function reused(line: number): OperatorError {
  return new OperatorError(
    `Line ${line} differs from that of an earlier import with the same --key. Import the same lines again, or choose another --key.`,
  )
}

async function* validRows<New>(batches: AsyncIterable<CheckedRow<New>[]>) {
  for await (const rows of batches) yield rows.filter((row) => 'item' in row)
}
