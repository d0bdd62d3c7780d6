import { open } from 'node:fs/promises'
import type { State } from '../../../test/support/changes.ts'

/** A system call of a process that concerns its database, or an acknowledgement to a client. */
export type Step =
  | { kind: 'write'; file: string; offset: number; data: Buffer }
  | { kind: 'truncate'; file: string; size: number }
  | { kind: 'remove'; file: string }
  /** The content of the file, or the entries of the folder, are now on disk. */
  | { kind: 'sync'; file: string }
  /** The service acknowledged a create, a change or the removal of a note, whose priority is the number of its changes. */
  | { kind: 'acknowledge'; id: string; body: string | undefined; state: State }

/** The options of strace for a recording that {@link readRecording} can read. */
export const recordingOptions = [
  ...['-y', '-xx', '-s', '1000000'],
  ...['-e', 'trace=pwrite64,write,writev,ftruncate,unlink,fsync,fdatasync'],
]

/** Reads a recording of strace, in order. A file is named by its suffix to the database path, the folder by `/`. */
export async function readRecording(path: string, database: string): Promise<Step[]> {
  const folder = database.slice(0, database.lastIndexOf('/'))
  const unfinished = new Map<string, string>()
  const steps: Step[] = []
  // A fast machine records more than fits into one text.
  const recording = await open(path)
  for await (const line of recording.readLines({ encoding: 'latin1' })) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    // An acknowledgement counts from the start of its call. Every other call counts from its end.
    const begun = call.endsWith('<unfinished ...>')
    if (begun) unfinished.set(thread, call.slice(0, -'<unfinished ...>'.length).trimEnd())
    const [, rest = ''] = /^<\.\.\. \w+ resumed>(.*)$/.exec(call) ?? []
    const whole = call.startsWith('<...') ? `${unfinished.get(thread)}${rest}` : call
    const step = readCall(whole, database, folder)
    if (step && (step.kind === 'acknowledge' ? !call.startsWith('<...') : !begun)) steps.push(step)
  }
  return steps
}

function readCall(call: string, database: string, folder: string): Step | undefined {
  const [, name = '', words = ''] = /^(\w+)\((.*)$/.exec(call) ?? []
  const hasFailed = / = -1 [A-Z]+ \([^)]*\)$/.test(words)
  if (hasFailed) return undefined
  const file = fileIn(words, database, folder)
  if (file === undefined) return name.startsWith('write') ? acknowledgement(words) : undefined
  const [, first = '0', second = '0'] = /, (\d+)(?:, (\d+))?\) += /.exec(words) ?? []
  if (name === 'pwrite64') return { kind: 'write', file, offset: Number(second), data: bytesIn(words) }
  if (name === 'ftruncate') return { kind: 'truncate', file, size: Number(first) }
  if (name === 'unlink') return { kind: 'remove', file }
  if (name === 'fsync' || name === 'fdatasync') return { kind: 'sync', file }
  throw new Error(`A ${name} on the database is not understood.`)
}

/** Finds the file in the first argument: a descriptor with its path in angle brackets, or a path. */
function fileIn(words: string, database: string, folder: string): string | undefined {
  const path = unhex(/^\d+<([^>]*)>/.exec(words)?.[1] ?? /^"([^"]*)"/.exec(words)?.[1] ?? '').toString()
  if (path === folder) return '/'
  return path.startsWith(database) && !path.endsWith('-shm') ? path.slice(database.length) : undefined
}

function acknowledgement(words: string): Step | undefined {
  const text = bytesIn(words).toString()
  // REST writes integers, RPC texts. The response to a removal has only the id.
  const [, id, body, priority] =
    /^HTTP\/1\.1 20[01] .*"id":"?(\d+)"?(?:,"body":"([^"]*)","priority":"?(\d+))?/s.exec(text) ?? []
  if (id === undefined) return undefined
  return { kind: 'acknowledge', id, body, state: priority === undefined ? 'removed' : Number(priority) }
}

/** All bytes in the arguments of the call, which may be several pieces. */
function bytesIn(words: string): Buffer {
  return Buffer.concat([...words.matchAll(/"([^"]*)"/g)].map(([, text = '']) => unhex(text)))
}

function unhex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}
