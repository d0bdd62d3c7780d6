import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { onMessage, startThread } from '../../thread.ts'
import { isBusy, toFailure } from '../failure.ts'
import { removeTemporary, syncFolder, temporaryName, temporaryPath } from '../files.ts'
import type { CopyRequest, CopyStep } from './copy.ts'
import { attempt, CopyFailed } from './copy-failure.ts'
import type { CopyMessage } from './copy-thread.ts'

/** What is going on, and how much of the copy is made, in bytes. */
export interface Progress {
  step: CopyStep
  done: number
  total: number
}

export type OnProgress = (progress: Progress) => void

interface PartialRequest extends Omit<CopyRequest, 'target'> {
  /** The folder of the copy: the one where `use` will give it its name. */
  folder: string
  onProgress?: OnProgress | undefined
}

/**
 * Makes a checked copy under a temporary name and hands it to `use`, which gives it its name at one stroke. If anything
 * goes wrong, or a signal ends the process, the temporary file is removed; what a killed process left is removed by the
 * next copy into the folder.
 *
 * @throws {CopyFailed}
 */
export async function withPartialCopy(request: PartialRequest, use: (partial: string) => void): Promise<void> {
  const { folder, source, isSourceReadonly, onProgress } = request
  attempt('target', () => removeLeftovers(folder))
  const target = temporaryPath(folder, 'partial')
  const stopListening = removeOnSignal(target)
  try {
    await copyInThread({ source, target, isSourceReadonly }, onProgress)
    use(target)
    attempt('target', () => syncFolder(folder))
  } finally {
    removeTemporary(target)
    stopListening()
  }
}

async function copyInThread(request: CopyRequest, onProgress: OnProgress | undefined): Promise<void> {
  const thread = startThread(new URL('copy-thread.ts', import.meta.url), request)
  let failure: CopyFailed | undefined
  let polling: NodeJS.Timeout | undefined
  onMessage(thread, (message: CopyMessage) => {
    if ('at' in message) failure = new CopyFailed(message.at, message.message)
    // SQLite tells nothing of its progress, but the file grows.
    else polling = poll(polling, () => onProgress?.({ ...message, done: sizeOf(request.target) }))
  })
  try {
    await once(thread, 'exit')
  } finally {
    clearInterval(polling)
  }
  if (failure) throw failure
}

function poll(before: NodeJS.Timeout | undefined, look: () => void): NodeJS.Timeout {
  clearInterval(before)
  look()
  return setInterval(look, 100)
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function removeLeftovers(folder: string): void {
  for (const entry of readdirSync(folder)) {
    const [, name, pid] = temporaryName.exec(entry) ?? []
    if (name === undefined || isAlive(Number(pid)) || isLocked(join(folder, name))) continue
    removeTemporary(join(folder, name))
  }
}

/** Whether another process of this number runs. In a container this process may have the number of one that was killed. */
function isAlive(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return toFailure(error).code === 'EPERM'
  }
}

/** SQLite holds a lock on what it writes, which is seen from other containers too. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false
  try {
    const connection = new Database(path, { timeout: 0, fileMustExist: true })
    try {
      connection.exec('BEGIN EXCLUSIVE')
    } finally {
      connection.close()
    }
    return false
  } catch (error) {
    return isBusy(toFailure(error))
  }
}

/** A thread inside SQLite cannot be stopped, but ends with the process. */
function removeOnSignal(path: string): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const end = (signal: NodeJS.Signals) => {
    removeTemporary(path)
    stopListening()
    process.kill(process.pid, signal)
  }
  const stopListening = () => {
    for (const signal of signals) process.off(signal, end)
  }
  for (const signal of signals) process.on(signal, end)
  return stopListening
}
