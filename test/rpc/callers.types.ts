import { mutation, procedure, router } from '../../server/trpc.ts'

/** Only a mutation knows its caller: a cached response of a query must not depend on it. */
export const callers = router({
  one: mutation({ idempotencyKey: 'ignored' }).mutation(({ ctx }) => [
    ctx.apiKey.id,
    ctx.apiKey.name,
    ctx.apiKey.access,
  ]),
  two: mutation({ idempotencyKey: 'replays' }).mutation(({ ctx }) => ctx.apiKey.name),
  // @ts-expect-error A query has no key.
  three: procedure.query(({ ctx }) => ctx.apiKey),
  // @ts-expect-error The hash is not for resolvers.
  four: mutation({ idempotencyKey: 'ignored' }).mutation(({ ctx }) => ctx.apiKey.hash),
})
