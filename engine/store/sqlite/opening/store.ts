import { dirname } from 'node:path'
import type { BaseStore, StoreObserver, StoreSizes } from '../../collection/base-store.ts'
import { changeMethodOf } from '../../collection/change.ts'
import type { Derived } from '../../collection/derived.ts'
import { history, historyWith } from '../../collection/history.ts'
import { addingMethodOf, operationOf, type RunMutation } from '../../collection/mutation.ts'
import { searchWith } from '../../collection/search.ts'
import type { PrepareOptions } from '../../database/migrations.ts'
import { measureBackups } from '../backup/inventory.ts'
import type { Mutation, SqliteAccess, SqliteCollection } from '../collection.ts'
import { isDiskFull, orUnusable } from '../file/diagnosis.ts'
import { realPathOf, roomFor, sizeOf } from '../file/files.ts'
import { prepareCounts, prepareGet, preparePages } from '../statements.ts'
import { createWriter, type Writer, type WriterOptions } from '../writer/writer.ts'
import { prepareDatabase } from './prepare.ts'
import { openReader, type Reader } from './reader.ts'

interface SqliteStoreOptions extends Omit<WriterOptions, 'identities' | 'historyDays'>, PrepareOptions {
  onDamage?: ((message: string) => void) | undefined
  observer?: StoreObserver | undefined
}

/** Prepares and opens an SQLite file. Reads run on the event loop, writes in a worker thread. Throws UnusableDatabase. */
export function openSqliteStore(options: SqliteStoreOptions): BaseStore {
  const { path, loaded, onWarning = () => {}, onDamage = () => {}, observer } = options
  prepareDatabase(path, loaded, options)
  const watched = { ...options, program: loaded.program, closeWriter: () => writer.close(), onWarning, onDamage }
  const reader: Reader = orUnusable(path, () => openReader(loaded, watched))
  const { identities, watch } = reader
  const writer: Writer = createWriter(
    { ...options, identities },
    { onDamage: (damage) => watch.leave(damage), onWarning, observer },
  )
  const opened = Object.entries(loaded.collections).map(([name, collection]) => [
    name,
    collection.open(accessFor(name, collection, reader, writer)),
  ])

  return {
    ...Object.fromEntries(opened),
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
    async close() {
      // If the reader closes last, the log and its index stay: on a full disk the next start could not create them.
      for (const each of isDiskFull(path) ? [writer, reader] : [reader, writer]) await each.close()
    },
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

function accessFor(
  collection: string,
  { table, filters, search, mutations, writes }: SqliteCollection,
  reader: Reader,
  writer: Writer,
): Derived & SqliteAccess {
  function runnerOf(mutation: unknown): RunMutation {
    const operation = operationOf(collection, writes, mutation)
    return (values, idempotency) => writer.mutate(operation, values, idempotency)
  }

  function replayable<Input extends object, Generated extends object>(mutation: Mutation<Input, Generated>) {
    return addingMethodOf<Input, Generated>(mutation.fields, runnerOf(mutation))
  }

  return {
    list: () => reader.add(preparePages(table, filters)),
    get: () => reader.add(prepareGet(table, 'id')),
    getBy: (field) => reader.add(prepareGet(table, field)),
    search: () =>
      searchWith(filters, search, {
        get: reader.add(prepareGet(table, 'id')),
        newest: reader.add(preparePages(table, filters, 'newest')),
        oldest: reader.add(preparePages(table, filters, 'oldest')),
        // To read this many rows takes 0.1 ms of the event loop.
        step: 100,
      }),
    count: (field: string, limit: number) => reader.add(prepareCounts(table, field, limit)),
    create: () => replayable(mutations.create),
    update: () => changeMethodOf(table, runnerOf(mutations.update)),
    remove: () => changeMethodOf(table, runnerOf(mutations.remove)),
    history: () => historyWith(table, reader.add(preparePages(history, ['rowId', 'collection'], 'newest'))),
    revision: reader.revision,
    read: reader.add,
    replayable,
  }
}
