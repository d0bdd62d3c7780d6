import type { Step } from './recording.ts'

/** The content of the files by name. */
export type Disk = Map<string, Buffer>

type Change = Extract<Step, { kind: 'write' | 'truncate' | 'remove' }>

const sector = 512

/**
 * A model of a disk that replays recorded system calls. Synced changes survive a power cut. Any subset of the other
 * changes survives, independent of their order. A write may survive in some of its sectors only. A change of size, the
 * creation of a file and the removal of a file survive or not. SQLite assumes the same of a disk
 * (https://www.sqlite.org/atomiccommit.html, section 2).
 */
export class RecordedDisk {
  readonly #durable: Disk
  /** The files whose entries in the folder are synced. */
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

  /** Ignores the removal of a file that was never written. */
  #matters({ kind, file }: Change): boolean {
    const earlier = this.#pending.filter((each) => each.file === file)
    if (kind === 'remove') return this.#durable.has(file) || earlier.length > 0
    if (earlier.some((each) => each.kind === 'remove')) throw new Error('A file made anew is not foreseen.')
    return true
  }

  /** Returns a possible state of the disk after a power cut now. `random` returns numbers from 0 to 1. */
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

/** The sync of a file covers its content. The sync of the folder covers removals. */
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

/** Grows in place if the buffer has space, because files grow by many small writes. */
function resize(bytes: Buffer, size: number): Buffer {
  if (size <= bytes.length) return bytes.subarray(0, size)
  const hasRoom = bytes.byteOffset + size <= bytes.buffer.byteLength
  const resized = hasRoom
    ? Buffer.from(bytes.buffer, bytes.byteOffset, size)
    : Buffer.from(copy(bytes, 2 * size).buffer, 0, size)
  return resized.fill(0, bytes.length)
}

/** Copies the bytes to the start of a new buffer of `room` bytes. */
function copy(bytes: Buffer, room = bytes.length): Buffer {
  const whole = Buffer.alloc(room)
  bytes.copy(whole)
  return whole.subarray(0, bytes.length)
}

/** Returns a random subset of the sectors of a write. */
function tear(write: Extract<Change, { kind: 'write' }>, random: () => number): Change[] {
  const parts: Change[] = []
  for (let at = 0; at < write.data.length; ) {
    const end = Math.min(write.data.length, at + sector - ((write.offset + at) % sector))
    if (random() < 0.5) parts.push({ ...write, offset: write.offset + at, data: write.data.subarray(at, end) })
    at = end
  }
  return parts
}
