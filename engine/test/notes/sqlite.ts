import type Database from 'better-sqlite3'
import type { SqliteAccess } from '#store'
import {
  type Copy,
  maxCopies,
  maxPriority,
  minPriority,
  NoSuchNote,
  type Raise,
  type Raised,
  TooManyCopies,
  throwDefect,
} from './tables.ts'

const copy = Object.assign(prepareCopy, { fields: ['body', 'priority'] as const })
const raise = Object.assign(prepareRaise, { fields: ['id', 'amount'] as const })

export const writes = { copy, raise }

export function open({ replayable }: SqliteAccess) {
  return { copy: replayable<Copy, { copies: bigint }>(copy), raise: replayable<Raise, Raised>(raise) }
}

/** Two statements, of which the second may find that the first must not stay. */
function prepareCopy(connection: Database.Database) {
  const insert = connection.prepare("INSERT INTO notes (body, state, priority) VALUES (?, 'open', ?)")
  const count = connection.prepare<unknown[], bigint>('SELECT count(*) FROM notes WHERE body = ?').pluck()
  return (...[body, priority]: unknown[]) => {
    insert.run(body, priority ?? 0n)
    const copies = count.get(body) ?? 0n
    throwDefect(body)
    if (copies > maxCopies) throw new TooManyCopies(`More than ${maxCopies} notes have this body.`, 'notes')
    return { copies }
  }
}

/** Reads the priority first, because SQLite would make a fraction of a sum out of range. */
function prepareRaise(connection: Database.Database) {
  const find = connection.prepare<unknown[], bigint>('SELECT priority FROM notes WHERE id = ?').pluck()
  const update = connection.prepare('UPDATE notes SET priority = ? WHERE id = ?')
  return (...[id, amount]: unknown[]): Raised => {
    const earlier = find.get(id)
    if (earlier === undefined) throw new NoSuchNote(`No note has the id ${id}.`, 'notes')
    const sum = earlier + BigInt(String(amount))
    const priority = sum < minPriority ? minPriority : sum > maxPriority ? maxPriority : sum
    update.run(priority, id)
    return { priority }
  }
}
