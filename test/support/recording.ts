import { readFileSync } from 'node:fs'

/** What a process asked of the kernel that matters to its database, in order. */
export type Step =
  | { kind: 'write'; file: string; offset: number; data: Buffer }
  | { kind: 'truncate'; file: string; size: number }
  | { kind: 'remove'; file: string }
  /** The file, or the entries of the folder, are on disk from here on. */
  | { kind: 'sync'; file: string }
  /** A pet was acknowledged to its caller. */
  | { kind: 'acknowledge'; name: string }

/** The options with which strace records what {@link readRecording} reads. */
export const recordingOptions = [
  ...['-y', '-xx', '-s', '1000000'],
  ...['-e', 'trace=pwrite64,write,writev,ftruncate,unlink,fsync,fdatasync'],
]

/** Reads a recording of strace's. Files are named by what follows the path of the database; its folder is named `/`. */
export function readRecording(path: string, database: string): Step[] {
  const folder = database.slice(0, database.lastIndexOf('/'))
  const unfinished = new Map<string, string>()
  const steps: Step[] = []
  for (const line of readFileSync(path, 'latin1').split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    // The beginning of a call counts for an acknowledgement, and the end for whatever else.
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

/** The file of a descriptor with its path in angle brackets, or that of a path. */
function fileIn(words: string, database: string, folder: string): string | undefined {
  const path = unhex(/^\d+<([^>]*)>/.exec(words)?.[1] ?? /^"([^"]*)"/.exec(words)?.[1] ?? '').toString()
  if (path === folder) return '/'
  return path.startsWith(database) && !path.endsWith('-shm') ? path.slice(database.length) : undefined
}

function acknowledgement(words: string): Step | undefined {
  const text = bytesIn(words).toString()
  const [, name] = /^HTTP\/1\.1 201 .*"name":"([^"]*)"/s.exec(text) ?? []
  return name === undefined ? undefined : { kind: 'acknowledge', name }
}

/** All bytes that the call carries, in one piece or several. */
function bytesIn(words: string): Buffer {
  return Buffer.concat([...words.matchAll(/"([^"]*)"/g)].map(([, text = '']) => unhex(text)))
}

function unhex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}
