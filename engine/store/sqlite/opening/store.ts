import { dirname } from 'node:path'
import type { BaseStore, StoreSizes } from '../../collection/base-store.ts'
import { openCollections } from '../../collection/derived.ts'
import { history } from '../../collection/history.ts'
import type { Loaded, OpenOptions } from '../../database/loaded.ts'
import { measureBackups } from '../backup/inventory.ts'
import type { SqliteCollection } from '../collection.ts'
import { isDiskFull, orUnusable } from '../file/diagnosis.ts'
import { realPathOf, roomFor, sizeOf } from '../file/files.ts'
import { countsOf, pagesOf, rowBy } from '../statements.ts'
import { createWriter } from '../writer/writer.ts'
import { createOrMigrate } from './create-or-migrate.ts'
import { openReader } from './reader.ts'

interface SqliteStoreOptions extends OpenOptions {
  path: string
  loaded: Loaded<SqliteCollection>
}

/** Prepares and opens an SQLite file. Reads run on the event loop, writes in a worker thread. Throws UnusableDatabase. */
export function openSqliteStore(options: SqliteStoreOptions): BaseStore {
  const { path, loaded, observer } = options
  createOrMigrate(options)
  const closeWriter = (): Promise<void> => writer.close()
  const reader = orUnusable(path, () => openReader({ ...options, closeWriter }))
  const { identities, watch } = reader
  const writer = createWriter({ ...options, identities, onDamage: watch.leave })
  // To read this many rows takes 0.1 ms of the event loop.
  const step = 100

  async function close(): Promise<void> {
    // If the reader closes last, the log and its index stay: on a full disk the next start could not create them.
    for (const each of isDiskFull(path) ? [writer, reader] : [reader, writer]) await each.close()
  }

  const collections = openCollections(
    loaded.collections,
    { read: reader.add },
    { step, close },
    ({ table, filters }) => ({
      pages: (order) => reader.add(pagesOf(table, filters, order)),
      getBy: (field) => reader.add(rowBy(table, field)),
      counts: (field, limit) => reader.add(countsOf(table, field, limit)),
      entries: () => reader.add(pagesOf(history, ['rowId', 'tableName'], 'newest')),
      run: (operation) => (values, idempotency) => writer.mutate(operation, values, idempotency),
      revision: reader.revision,
    }),
  )

  return {
    ...collections,
    revision: reader.revision,
    inOneSnapshot: reader.inOneSnapshot,
    async check() {
      const problem = await reader.schemaProblem()
      if (problem) {
        observer?.writeFailed?.(problem.failure)
        throw problem
      }
      await writer.probe()
    },
    load: () => ({ queuedWrites: writer.queued }),
    sizes: () => measureFiles(path),
    saved: watch.saved,
    close,
  }
}

async function measureFiles(path: string): Promise<StoreSizes> {
  try {
    const realPath = realPathOf(path)
    const files = { databaseBytes: sizeOf(realPath), logBytes: sizeOf(`${realPath}-wal`) }
    const backups = await measureBackups(path).catch(() => undefined)
    const { bytes: freeBytes, totalBytes: bytes } = roomFor(dirname(realPath))
    const disk = bytes < Infinity ? { freeBytes, bytes } : undefined
    return { ...files, ...(disk && { disk }), ...(backups && { backups }) }
  } catch {
    return {}
  }
}
