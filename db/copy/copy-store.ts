import { describeLocation, type Location } from '../location.ts'
import { UnusableDatabase } from '../unusable-database.ts'
import { type CopyContext, copyTable, type TableSummary } from './copy-table.ts'
import type { Source, Target } from './endpoints.ts'

export interface CopyRequest extends Partial<Pick<CopyContext, 'batchSize' | 'onProgress'>> {
  /** Must exist at this release's schema, and is only read. It may be in use. */
  from: Location
  /** Is made, or migrated, if need be. Must have no rows. */
  to: Location
}

/**
 * Copies all that a store keeps into an empty one, as it is at one moment. Rows keep their ids, and no id that was given
 * before is given again. Before the one commit all is read back and compared, so that whatever happens, the empty store
 * becomes an equal one or stays empty.
 *
 * @returns what is in both.
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export async function copyStore(request: CopyRequest): Promise<TableSummary[]> {
  const { from, to, batchSize = 1_000, onProgress } = request
  const source = await openSource(from)
  try {
    const target = await openTarget(to, source.identity)
    try {
      const context = { from: describeLocation(from), to: describeLocation(to), batchSize, onProgress }
      await refuseRows(target, context)
      return await copyTables(source, target, context)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Only the driver that is needed is loaded. */
async function openSource(location: Location): Promise<Source> {
  if (location.kind === 'postgres') {
    const { openSource } = await import('./postgres-source.ts')
    return openSource(location.url)
  }
  const { openSource } = await import('./sqlite-source.ts')
  return openSource(location.path)
}

async function openTarget(location: Location, source: string): Promise<Target> {
  if (location.kind === 'postgres') {
    const { openTarget } = await import('./postgres-target.ts')
    return openTarget(location.url, source)
  }
  const { openTarget } = await import('./sqlite-target.ts')
  return openTarget(location.path, source)
}

async function refuseRows({ apiKeys, pets, idempotencyKeys }: Target, { to }: CopyContext): Promise<void> {
  for (const table of [apiKeys, pets, idempotencyKeys]) {
    if ((await table.count()) > 0)
      throw new UnusableDatabase(to, `its table ${table.name} is not empty; choose an empty database`)
  }
}

async function copyTables(source: Source, target: Target, context: CopyContext): Promise<TableSummary[]> {
  // The references between them allow this order only.
  const apiKeys = await copyTable(source.apiKeys, target.apiKeys, context)
  const pets = await copyTable(source.pets, target.pets, context)
  const idempotencyKeys = await copyTable(source.idempotencyKeys, target.idempotencyKeys, context)
  // Last, since PostgreSQL would not undo it.
  await target.apiKeys.continueAfter(apiKeys.lastId)
  await target.pets.continueAfter(pets.lastId)
  await target.idempotencyKeys.continueAfter(idempotencyKeys.lastId)
  await target.commit()
  return [apiKeys, pets, idempotencyKeys]
}
