import { createHash } from 'node:crypto'
import type { Pet, PetStatus, Store } from '../../../db/resources.ts'
import { csvHeader, writeCsv } from './csv.ts'
import type { Format } from './format.ts'
import { writeNdjson } from './ndjson.ts'
import type { Write } from './output.ts'

const pageSize = 1_000

const writers = {
  ndjson: { header: '', write: writeNdjson },
  csv: { header: csvHeader, write: writeCsv },
}

interface ExportOptions {
  format: Format
  /** Exports only pets of this status. */
  status?: PetStatus | undefined
  /** Called with the number of pets that are written. */
  onProgress?: ((pets: number) => void) | undefined
}

/** Writes all pets in ascending order of their ids. Pets that are created meanwhile may be included at the end. */
export async function exportPets(store: Store, write: Write, { format, status, onProgress }: ExportOptions) {
  const writer = writers[format]
  const hash = createHash('sha256')
  let pets = 0

  async function append(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    hash.update(bytes)
    await write(bytes)
  }

  await append(writer.header)
  for await (const page of readPages(store, status)) {
    await append(writer.write(page))
    pets += page.length
    onProgress?.(pets)
  }
  return { pets, sha256: hash.digest('hex') }
}

async function* readPages({ pets }: Store, status: PetStatus | undefined): AsyncGenerator<Pet[]> {
  let cursor = 0n
  for (;;) {
    const page = await pets.list({ limit: pageSize, cursor, status })
    const last = page.at(-1)
    if (!last) return
    yield page
    cursor = last.id
  }
}
