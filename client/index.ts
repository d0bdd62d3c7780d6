import type { TRPCClient, TRPCClientError } from '@trpc/client'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { type ClientOptions, createClient, isAborted, isServiceError } from '../engine/client/index.ts'
import type { AppRouter } from '../server/router.ts'

export type PetstoreClient = TRPCClient<AppRouter>
export type PetstoreError = TRPCClientError<AppRouter>
/** What went wrong, for a `switch`. A later version of the service may send further codes. */
export type PetstoreErrorCode = NonNullable<PetstoreError['data']>['code']
/** An invalid field of the input. */
export type PetstoreIssue = NonNullable<NonNullable<PetstoreError['data']>['issues']>[number]
export type { AppRouter }

export type Pet = inferRouterOutputs<AppRouter>['pets']['create']
export type NewPet = inferRouterInputs<AppRouter>['pets']['create']
export type PetStatus = Pet['status']

export type { ClientOptions as PetstoreClientOptions }
export { isAborted }

/**
 * A typed client of the service: `petstore.pets.list.query({ limit: 5 })`. Identifiers are `bigint`. Queries made in the
 * same tick share an HTTP request.
 *
 * The client retries transient failures. Each create carries its own idempotency key, so a retry never adds a second
 * pet. To retry one yourself, even from another process, choose its key:
 * `petstore.pets.create.mutate(pet, { context: { idempotencyKey: 'order-19' } })`.
 *
 * A failed call rejects with a `PetstoreError`, which `isPetstoreError` recognises. `isAborted` tells whether the caller's
 * `signal` ended it.
 *
 * @throws {TypeError} if an option is not valid, or the runtime too old.
 */
export function createPetstoreClient(options: ClientOptions): PetstoreClient {
  return createClient<AppRouter>(options)
}

/**
 * Whether an error is a `PetstoreError`, also one of another tRPC client of the service. Its `data` holds `code`, `message`
 * and `status`, and `issues` if the input is not valid. If no response of the service arrived, `data` is undefined, and the
 * message names the URL and the cause.
 */
export function isPetstoreError(error: unknown): error is PetstoreError {
  return isServiceError(error)
}
