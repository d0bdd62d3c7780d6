import type { OnMigrate } from '../migrations.ts'
import { type Store, type StoreObserver, type StoreSizes, StoreUnavailable } from '../store.ts'
import { measureBackups } from './backup/inventory.ts'
import { CorruptionCheck } from './diagnosis/corruption.ts'
import type { Failure } from './failure.ts'
import { realPathOf, sizeOf } from './files.ts'
import { prepareDatabase } from './prepare.ts'
import { Reader } from './reader.ts'
import { Writer, type WriterOptions } from './writer.ts'

interface SqliteStoreOptions extends WriterOptions {
  /** Whether to create a missing file. True by default. */
  create?: boolean
  /** Whether to migrate the database of an older release, true by default. Otherwise it is refused. */
  migrate?: boolean
  onMigrate?: OnMigrate | undefined
  /** Called with a sentence for the operator when the database needs attention. */
  onWarning?: ((message: string) => void) | undefined
  observer?: StoreObserver | undefined
}

/**
 * Opens a store in an SQLite file. Creates or migrates the file first if necessary. Reads run on the event loop, writes in
 * a worker thread.
 *
 * @throws {UnusableDatabase}
 */
export function openSqliteStore({
  create = true,
  migrate = true,
  onMigrate,
  onWarning = () => {},
  observer,
  ...options
}: SqliteStoreOptions): Store {
  prepareDatabase(options.path, { create, migrate, onMigrate, onWarning })
  const corruption = new CorruptionCheck(options.path)
  const verify = (failure: Failure) => corruption.verify(failure)
  const reader: Reader = new Reader(options.path, { releaseWriter: () => writer.release(), verify, onWarning })
  const writer: Writer = new Writer(options, {
    verify,
    permit: () => reader.permitWriter(),
    onDamage: (damage) => reader.leaveFiles(damage),
    onWarning,
    observer,
  })

  return {
    pets: {
      list: (query) => reader.run((reads) => reads.listPets(query)),
      get: (id) => reader.run((reads) => reads.getPet(id)),
      counts: () => reader.run((reads) => reads.countPets()),
      ...writer.pets,
    },
    apiKeys: {
      async find(hash) {
        const key = await reader.run((reads) => reads.findApiKey(hash))
        // An unknown key may be valid if another program wrote a different database over the file.
        if (!key) reader.checkHeader()
        return key
      },
      list: () => reader.run((reads) => reads.listApiKeys()),
      ...writer.apiKeys,
      revision: () => reader.revision(),
    },
    revision: () => reader.revision(),
    async check() {
      const problem = await reader.run((reads) => reads.schemaProblem())
      if (problem !== undefined) {
        observer?.writeFailed?.('schema')
        throw new StoreUnavailable(problem, { isRetryable: false })
      }
      await writer.probe()
    },
    load: () => ({ queuedWrites: writer.queued }),
    sizes: () => measureFiles(options.path),
    async close() {
      await reader.close()
      await writer.close()
      reader.closeHeader()
    },
  }
}

/** Returns nothing if a file cannot be read. */
async function measureFiles(path: string): Promise<StoreSizes> {
  try {
    const realPath = realPathOf(path)
    const files = { databaseBytes: sizeOf(realPath), logBytes: sizeOf(`${realPath}-wal`) }
    return { ...files, backups: await measureBackups(path) }
  } catch {
    return {}
  }
}
