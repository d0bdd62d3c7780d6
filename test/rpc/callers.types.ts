import { mutation, query, router } from '../../server/trpc.ts'

/** Who calls is known to mutations, and to queries whose response is not cached for every key. */
export const callers = router({
  one: mutation({ idempotencyKey: 'ignored' }).mutation(({ ctx }) => [
    ctx.apiKey.id,
    ctx.apiKey.name,
    ctx.apiKey.access,
  ]),
  two: mutation({ idempotencyKey: 'replays' }).mutation(({ ctx }) => ctx.apiKey.name),
  three: query().query(({ ctx }) => ctx.apiKey.name),
  // @ts-expect-error A cached query has no key.
  four: query({ cache: true }).query(({ ctx }) => ctx.apiKey),
  // @ts-expect-error The hash is not for resolvers.
  five: mutation({ idempotencyKey: 'ignored' }).mutation(({ ctx }) => ctx.apiKey.hash),
  // @ts-expect-error Every key would get the response.
  six: query({ cache: true, access: 'write' }).query(() => 1),
  // @ts-expect-error A mutation runs each time.
  seven: mutation({ idempotencyKey: 'ignored', cache: true }).mutation(() => 1),
})
