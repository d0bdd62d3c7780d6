import type { Step } from './recording.ts'

/** The bytes of the files, by their names. */
export type Disk = Map<string, Buffer>

type Change = Extract<Step, { kind: 'write' | 'truncate' | 'remove' }>

const sector = 512

/**
 * A disk under a recording of what was asked of it. What was synced is there after a power cut. Of what was not, any part
 * may be: each write whole, in some of its sectors or not at all, whatever came before or after it; each change of a
 * file's size or existence, a new file's included, or not. This is what SQLite, too, takes for granted of a disk
 * (https://www.sqlite.org/atomiccommit.html, section 2).
 */
export class RecordedDisk {
  readonly #durable: Disk
  /** The files that the folder is known to hold. */
  readonly #entries: Set<string>
  #pending: Change[] = []

  constructor(base: Disk) {
    this.#durable = copyAll(base)
    this.#entries = new Set(base.keys())
  }

  apply(step: Step): void {
    if (step.kind === 'sync') {
      for (const change of this.#pending.filter((each) => isCovered(each, step.file))) perform(this.#durable, change)
      this.#pending = this.#pending.filter((each) => !isCovered(each, step.file))
      if (step.file === '/') for (const { file } of this.#pending) this.#entries.add(file)
      if (step.file === '/') for (const file of this.#durable.keys()) this.#entries.add(file)
    } else if (step.kind !== 'acknowledge' && this.#matters(step)) {
      this.#pending.push(step)
    }
  }

  /** A file that was never written to may go without notice. */
  #matters({ kind, file }: Change): boolean {
    const earlier = this.#pending.filter((each) => each.file === file)
    if (kind === 'remove') return this.#durable.has(file) || earlier.length > 0
    if (earlier.some((each) => each.kind === 'remove')) throw new Error('A file made anew is not foreseen.')
    return true
  }

  /** What may be found after a power cut at this moment. `random` gives numbers from 0 to 1. */
  cut(random: () => number): Disk {
    const disk = copyAll(this.#durable)
    for (const change of this.#pending) {
      const chance = random()
      if (chance < 1 / 3) perform(disk, change)
      else if (chance < 2 / 3 && change.kind === 'write') for (const part of tear(change, random)) perform(disk, part)
    }
    for (const file of disk.keys()) if (!this.#entries.has(file) && random() < 1 / 3) disk.delete(file)
    return disk
  }
}

function copyAll(disk: Disk): Disk {
  return new Map([...disk].map(([file, bytes]) => [file, copy(bytes)]))
}

/** The sync of a file covers its content, that of the folder the removals in it. */
function isCovered({ kind, file }: Change, synced: string): boolean {
  return kind === 'remove' ? synced === '/' : file === synced
}

function perform(disk: Disk, change: Change): void {
  if (change.kind === 'remove') {
    disk.delete(change.file)
    return
  }
  const bytes = disk.get(change.file) ?? Buffer.alloc(0)
  const end = change.kind === 'truncate' ? change.size : Math.max(bytes.length, change.offset + change.data.length)
  const resized = resize(bytes, end)
  if (change.kind === 'write') change.data.copy(resized, change.offset)
  disk.set(change.file, resized)
}

/** Grows in place where there is room, since files grow by many small writes. */
function resize(bytes: Buffer, size: number): Buffer {
  if (size <= bytes.length) return bytes.subarray(0, size)
  const hasRoom = bytes.byteOffset + size <= bytes.buffer.byteLength
  const resized = hasRoom
    ? Buffer.from(bytes.buffer, bytes.byteOffset, size)
    : Buffer.from(copy(bytes, 2 * size).buffer, 0, size)
  return resized.fill(0, bytes.length)
}

/** With a memory of its own, of which the copy is the beginning. */
function copy(bytes: Buffer, room = bytes.length): Buffer {
  const whole = Buffer.alloc(room)
  bytes.copy(whole)
  return whole.subarray(0, bytes.length)
}

/** Some of the sectors of a write. */
function tear(write: Extract<Change, { kind: 'write' }>, random: () => number): Change[] {
  const parts: Change[] = []
  for (let at = 0; at < write.data.length; ) {
    const end = Math.min(write.data.length, at + sector - ((write.offset + at) % sector))
    if (random() < 0.5) parts.push({ ...write, offset: write.offset + at, data: write.data.subarray(at, end) })
    at = end
  }
  return parts
}
