import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { checksumOf } from './checksum.ts'
import { lockDatabase } from './connection.ts'
import { isBusy, toFailure } from './failure.ts'
import { link, makeFile } from './files.ts'
import type { Ownership } from './ownership.ts'

/** What follows the name of the program. Earlier releases left files with further digits and dashes behind. */
const namePattern = /^[0-9a-f-]+\.partial$/
/** Where a program creates a temporary file. */
export interface Place {
  program: string
  folder: string
  ownership: Ownership
}

/** Milliseconds within which a process locks the file that it has created. */
const maxTimeToLock = 60_000

/**
 * Creates an empty file in the folder and removes it at the end. If the process is killed, the next call for the folder
 * removes the file.
 *
 * @param guard runs the work and the removal. The default also removes the file if a signal ends the process.
 */
export async function withTemporaryFile(
  { program, folder, ownership }: Place,
  use: (path: string) => Promise<void>,
  guard: Guard = withCleanup,
): Promise<void> {
  const beginning = `.${program}-`
  removeAbandoned(folder, beginning)
  const path = join(folder, `${beginning}${randomBytes(8).toString('hex')}.partial`)
  await guard(
    () => remove(path),
    async () => {
      makeFile(path, ownership)
      await use(path)
    },
  )
}

function removeAbandoned(folder: string, beginning: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (name.startsWith(beginning) && namePattern.test(name.slice(beginning.length)) && !isInUse(path)) remove(path)
  }
}

/**
 * A process that works on its file locks it before the first write. A new empty file without a journal counts as in use,
 * because the process that created it may not have locked it yet.
 */
function isInUse(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false })
  if (file?.size === 0 && !existsSync(`${path}-journal`)) return Date.now() - file.mtimeMs < maxTimeToLock
  try {
    lockDatabase(path).close()
    return false
  } catch (error) {
    return isBusy(toFailure(error))
  }
}

/** The file itself comes last, because its name is how the next call finds the others. */
function remove(path: string): void {
  for (const suffix of [checksumOf(''), '-journal', '-wal', '-shm', '']) rmSync(path + suffix, { force: true })
}

/** Gives a finished file its name, unless one has it (returns false): a link never overwrites. The old name stays. */
export function publish(path: string, name: string): boolean {
  if (existsSync(name)) return false
  try {
    link(path, name, () => renameSync(path, name))
    return true
  } catch (error) {
    if (toFailure(error).code === 'EEXIST') return false
    throw error
  }
}

/** The signals with which a person, a terminal or a supervisor ends a process. */
export const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

export type Guard = <T>(clean: () => void, work: () => Promise<T>) => Promise<T>

/** Runs a step and cleans up after it, also if one of the {@link signals} ends the process. */
export async function withCleanup<T>(clean: () => void, work: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals) => {
    clean()
    // This listener was removed before the call, so the signal now ends the process.
    process.kill(process.pid, signal)
  }
  for (const signal of signals) process.once(signal, end)
  try {
    return await work()
  } finally {
    clean()
    for (const signal of signals) process.off(signal, end)
  }
}
