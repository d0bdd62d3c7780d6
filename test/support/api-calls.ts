import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, promisify } from 'node:util'
import { expect } from 'vitest'
import { maxInt64, minInt64 } from '../../server/api/int64.ts'
import { petResource as resource } from '../../web/pets/pet.ts'
import { type ApiCall, keyVariable, type Service } from '../../web/requests/texts.ts'
import { awkwardNames } from './pet-names.ts'
import type { ListeningApi } from './raw-http.ts'

/** Calls for which the console offers texts, with the responses of a new service. */

const categories = [minInt64, 9007199254740993n, 0n, maxInt64]
const statuses = ['available', 'pending', 'sold'] as const

export const pets = awkwardNames.map((name, index) => ({
  id: BigInt(index + 1),
  name,
  categoryId: categories[index % categories.length] ?? 0n,
  status: statuses[index % statuses.length] ?? 'sold',
}))

interface ExpectedCall {
  call: ApiCall
  response: unknown
}

export const creates = pets.map(
  ({ id, ...input }): ExpectedCall => ({
    call: { title: 'create', resource, operation: 'create', input, idempotencyKey: `o'r"d\\e$r-${id}` },
    response: { id, ...input },
  }),
)

/** Calls after all creates. */
export const reads: ExpectedCall[] = [
  { call: { title: 'get', resource, operation: 'get', input: { petId: 4n } }, response: pets[3] },
  { call: { title: 'list', resource, operation: 'list', input: { limit: 100 } }, response: pets },
  {
    call: { title: 'list', resource, operation: 'list', input: { status: 'pending', cursor: 2n, limit: 1 } },
    response: [pets[4]],
  },
]

/** Writes a program for each call into a folder. The first one contains the API key. */
export function writePrograms(
  folder: string,
  { url, key: apiKey }: ListeningApi,
  textOf: (call: ApiCall, service: Service) => string,
): void {
  for (const [index, { call }] of [...creates, ...reads].entries()) {
    writeFileSync(join(folder, `${index}.ts`), textOf(call, index === 0 ? { url, apiKey } : { url }))
  }
}

/** Runs these programs. Each must print the response, and the service must store the pets. */
export async function runPrograms(folder: string, { key, store }: ListeningApi): Promise<void> {
  for (const [index, { response }] of [...creates, ...reads].entries()) {
    const env = index === 0 ? {} : { [keyVariable]: key }
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, `${index}.ts`)], { env })
    expect(stdout).toBe(`${format(response)}\n`)
  }
  expect(await store.pets.list({ limit: 100, cursor: 0n })).toEqual(pets)
}
