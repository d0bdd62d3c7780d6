import { existsSync, readdirSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type Database from 'better-sqlite3'
import { UnusableDatabase } from '../../collection/errors.ts'
import { withCopy } from '../backup/snapshot.ts'
import { databaseSize } from '../file/connection.ts'
import { orUnusable } from '../file/diagnosis.ts'
import { identify, makeFile, makeFolder, roomFor, sizeOf, syncFolder } from '../file/files.ts'
import type { FileIdentities } from '../file/open-file.ts'
import { ownershipOf } from '../file/ownership.ts'
import { type Guard, type Place, publish, withTemporaryFile } from '../file/temporary-file.ts'

/** The files of a database that may have lost their names, while a connection has them open. */
export interface OpenFiles {
  connection: Database.Database
  identities: Pick<FileIdentities, 'database' | 'log'>
  /** Whether the next start finds all commits. */
  isSaved: () => boolean
}

/** What is made of them. */
interface RescuedCopy {
  path: string
  program: string
  onProgress: () => void
}

/** Removes an incomplete copy at the end, but not when a signal arrives: see {@link withCleanup}. */
const guard: Guard = (clean, work) => work().finally(clean)

/** Copies the pages that the connection sees into `copy`, unchecked: no other copy exists, and a restore checks it. */
export async function copyPages({ connection }: OpenFiles, copy: RescuedCopy): Promise<void> {
  const { path, onProgress } = copy
  const size = orUnusable(path, () => databaseSize(connection))
  const request = { target: path, ...prepareFolder(copy, size), onProgress, guard }
  const unchecked = async () => {}
  await withCopy(connection, request, unchecked, (temporary) => publishAs(temporary, path))
}

/** Copies what the disk can read, by the descriptors of the process (proc_pid_fd(5)). False if the system has none. */
export async function copyReadable({ identities }: OpenFiles, copy: RescuedCopy): Promise<boolean> {
  const { path, onProgress } = copy
  const [database, log] = [identities.database, identities.log].map(findDescriptor)
  if (database === undefined) return false
  const place = prepareFolder(copy, sizeOf(database) + (log === undefined ? 0 : sizeOf(log)))
  const work = async (temporary: string) => {
    await copyBlocks(database, temporary, onProgress)
    // The log is published first, because only the database's name makes them a copy.
    if (log !== undefined) {
      makeFile(`${temporary}-wal`, place.ownership)
      await copyBlocks(log, `${temporary}-wal`, onProgress)
      publishAs(`${temporary}-wal`, `${path}-wal`)
    }
    publishAs(temporary, path)
    syncFolder(place.folder)
  }
  await withTemporaryFile(place, work, guard)
  return true
}

/** Creates the folder of the copy again if it was deleted, too. */
function prepareFolder({ path, program }: RescuedCopy, neededBytes: number): Place {
  const folder = dirname(path)
  const ownership = ownershipOf(path)
  return orUnusable(path, () => {
    makeFolder(folder, ownership)
    const { bytes } = roomFor(folder)
    const [needed, free] = [neededBytes, bytes].map((size) => `${(size / 1e6).toFixed(1)} MB`)
    if (bytes < neededBytes) throw new UnusableDatabase(path, `it needs ${needed}, and ${free} are free`)
    return { program, folder, ownership }
  })
}

function publishAs(temporary: string, path: string): void {
  if (!publish(temporary, path)) throw new Error(`${path} already exists`)
}

function findDescriptor(identity: string | undefined): string | undefined {
  if (identity === undefined) return undefined
  const folder = '/proc/self/fd'
  const paths = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  return paths.find((path) => identify(path) === identity)
}

/** Bytes that are read at once, and of which nothing is left out unless the disk cannot read it. */
const chunkSize = 1024 * 1024
const blockSize = 4096

/** Blocks that cannot be read are zero in the copy. */
async function copyBlocks(from: string, to: string, onProgress: () => void): Promise<void> {
  await using source = await open(from, 'r')
  await using copy = await open(to, 'r+')
  const { size } = await source.stat()
  await copy.truncate(size)
  for (let position = 0; position < size; position += chunkSize) {
    const isCopied = await copyPart(source, copy, position, chunkSize)
    for (let part = 0; part < chunkSize && !isCopied; part += blockSize)
      await copyPart(source, copy, position + part, blockSize)
    onProgress()
  }
  await copy.sync()
}

async function copyPart(source: FileHandle, copy: FileHandle, position: number, length: number): Promise<boolean> {
  const read = await source.read(Buffer.allocUnsafe(length), 0, length, position).catch(() => undefined)
  if (read) await copy.write(read.buffer, 0, read.bytesRead, position)
  return read !== undefined
}
