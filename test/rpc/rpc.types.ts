import type { PetstoreClient, PetstoreError, PetstoreErrorCode } from '../../client/index.ts'

/** Checked by the compiler alone: each line below an expectation must be an error, and each other line must not. */
export async function inputsAndOutputsAreTyped({ pets, session }: PetstoreClient): Promise<void> {
  const pet = await pets.get.query({ petId: 1n })
  pet satisfies { id: bigint; name: string; categoryId: bigint; status: 'available' | 'pending' | 'sold' }
  const [first] = await pets.list.query({ limit: 5, status: 'sold', cursor: pet.id })
  first satisfies typeof pet | undefined
  await pets.list.query()
  await pets.create.mutate({ name: 'Rex', categoryId: 1n })
  const changed = await pets.update.mutate({
    petId: 1n,
    status: 'sold',
    expected: { status: 'available', name: undefined },
  })
  changed satisfies typeof pet
  // @ts-expect-error A pet has no such field.
  await pets.update.mutate({ petId: 1n, color: 'red' })
  // @ts-expect-error The name of a pet is not optional.
  await pets.update.mutate({ petId: 1n, name: null })
  const removed = await pets.remove.mutate({ petId: 1n, expected: changed })
  removed satisfies { id: bigint }
  const [change] = await pets.history.query({ petId: 1n, limit: 5, cursor: 9n })
  change satisfies { id: bigint; at: Date; keyName?: string | undefined; petId: bigint } | undefined
  change?.kind satisfies 'update' | 'remove' | undefined
  change?.before.categoryId satisfies bigint | undefined
  change?.after?.status satisfies typeof pet.status | undefined
  await pets.history.query()
  const { sold } = await pets.counts.query()
  sold satisfies { count: number; isExact: boolean }
  const { keyName, expiresAt, rateLimit } = await session.current.query()
  keyName satisfies string
  expiresAt satisfies Date | undefined
  rateLimit?.remaining satisfies number | undefined

  const { items, searched, next } = await pets.search.query({ name: 're', status: 'sold', order: 'oldest', cursor: 1n })
  items satisfies (typeof pet)[]
  searched satisfies number
  await pets.search.query({ cursor: next })

  // @ts-expect-error an id is a bigint
  await pets.history.query({ petId: 1 })
  // @ts-expect-error an id is a bigint
  await pets.get.query({ petId: 1 })
  // @ts-expect-error there is no such procedure
  await pets.update.mutate({ id: 1n })
  // @ts-expect-error a pet has no such field
  pet.owner
}

export function errorsAreTyped({ data }: PetstoreError): void {
  const [issue] = data?.issues ?? []
  issue satisfies { path: string; expectation?: string } | undefined
  data satisfies { code: PetstoreErrorCode; message: string; status: number } | null | undefined

  // @ts-expect-error an issue has no such field
  issue?.message
}

export const statusOfEveryCode = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  expectation_failed: 417,
  unprocessable: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
} satisfies Record<PetstoreErrorCode, number>
