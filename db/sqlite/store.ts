import { type Store, StoreUnavailable } from '../store.ts'
import { prepareDatabase } from './prepare.ts'
import { Reader } from './reader.ts'
import { Writer, type WriterOptions } from './writer.ts'

interface SqliteStoreOptions extends WriterOptions {
  /** Whether a file that is missing is created, which is so by default. */
  create?: boolean
  /** Called with a sentence for the operator when the database needs attention. */
  onWarning?: ((message: string) => void) | undefined
}

/**
 * Opens a store in an SQLite file, which is created or migrated first if need be. Reads run here; writes run in a thread
 * of their own.
 *
 * @throws {UnusableDatabase} with one sentence for the operator.
 */
export function openSqliteStore({ create = true, onWarning = () => {}, ...options }: SqliteStoreOptions): Store {
  prepareDatabase(options.path, { create, onWarning })
  const reader = new Reader(options.path, { checkWriter: () => writer.checkFiles(), onWarning })
  // A client that has received the response to its write then reads that write.
  const writer = new Writer(options, {
    onSettled: () => reader.dropSnapshot(),
    onStale: () => reader.closeFile(),
    onWarning,
  })

  return {
    pets: {
      list: (query) => reader.run((reads) => reads.listPets(query)),
      get: (id) => reader.run((reads) => reads.getPet(id)),
      async create(pet) {
        return { id: await writer.run('createPet', pet), ...pet }
      },
      async createOnce(pet, key) {
        const { id, isReplay } = await writer.run('createPetOnce', pet, key, new Date())
        return { pet: { id, ...pet }, isReplay }
      },
    },
    apiKeys: {
      async find(hash) {
        const key = await reader.run((reads) => reads.findApiKey(hash))
        // A key that another database does not know may still be valid.
        if (!key) reader.checkHeader()
        return key
      },
      list: () => reader.run((reads) => reads.listApiKeys()),
      create: (key) => writer.run('createApiKey', key),
      createFirst: (key) => writer.run('createFirstApiKey', key),
      register: (key) => writer.run('registerApiKey', key),
      revoke: (id, at) => writer.run('revokeApiKey', id, at),
      rotate: (id, successor) => writer.run('rotateApiKey', id, successor),
      touch: (id, at) => writer.run('touchApiKey', id, at),
      revision: () => reader.revision(),
    },
    revision: () => reader.revision(),
    async check() {
      if (!(await reader.run((reads) => reads.hasOwnSchema()))) {
        throw new StoreUnavailable('Another release has migrated the database.', { isRetryable: false })
      }
      await writer.probe()
    },
    async close() {
      reader.close()
      await writer.close()
      reader.closeHeader()
    },
  }
}
