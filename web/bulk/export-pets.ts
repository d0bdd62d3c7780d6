import type { Pet, PetStatus, PetstoreClient } from '../../client/index.ts'
import { csvLine } from './csv.ts'
import { type Pause, retryWhileAway } from './retry-while-away.ts'

const fields = ['id', 'name', 'categoryId', 'status'] as const

/** How each format writes pets. Numbers have all of their digits. */
const writers = {
  csv: {
    type: 'text/csv',
    start: csvLine([...fields]),
    write: (pet: Pet) => csvLine(fields.map((field) => pet[field])),
    separator: '',
    end: '',
  },
  json: {
    type: 'application/json',
    start: '[\n',
    write: ({ id, name, categoryId, status }: Pet) =>
      `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`,
    separator: ',\n',
    end: '\n]\n',
  },
}

export type ExportFormat = keyof typeof writers

interface ExportOptions {
  format: ExportFormat
  status: PetStatus | undefined
  signal: AbortSignal
  /** Called with the number of pets that are exported. */
  onProgress: (pets: number) => void
  onPause: (pause: Pause | undefined) => void
}

/**
 * Loads all pets in ascending order of their ids. While the service is away, it waits. Pets that are created meanwhile may
 * be included at the end.
 */
export async function exportPets(petstore: PetstoreClient, options: ExportOptions): Promise<Blob> {
  const { format, status, signal, onProgress, onPause } = options
  const { type, start, write, separator, end } = writers[format]
  const retry = retryWhileAway({ signal, onPause })
  const pages: string[] = []
  let [cursor, pets] = [0n, 0]
  for (;;) {
    const page = await retry(() => petstore.pets.list.query({ status, cursor, limit: 100 }, { signal }))
    const last = page.at(-1)
    if (!last) return new Blob([start, pages.join(separator), end], { type })
    pages.push(page.map(write).join(separator))
    cursor = last.id
    pets += page.length
    onProgress(pets)
  }
}
