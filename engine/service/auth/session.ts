import { z } from 'zod'
import { Time } from '../api/time.ts'
import { requireApiKey } from '../procedures/access.ts'
import { createBuilder, type QueryMeta, RateLimitState, type SessionContext } from '../procedures/trpc.ts'

const Session = z.object({
  keyName: z.string().meta({ description: 'The name of the API key.' }),
  access: z.enum(['read', 'write']).meta({ description: 'With `write`, the key may also call mutations.' }),
  expiresAt: Time.optional().meta({ description: 'When the key expires. Absent if it does not.' }),
  rateLimit: RateLimitState.optional().meta({ description: 'The state after this call. Absent if there is no limit.' }),
  release: z.string().meta({ description: 'The version of the service.' }),
})

const { procedure, router } = createBuilder<SessionContext, QueryMeta>()

export const sessionRouter = router({
  /** Describes the API key of the request. */
  current: procedure.output(Session).query(({ ctx }) => {
    const { name, access, expiresAt } = requireApiKey(ctx)
    return { keyName: name, access, expiresAt, rateLimit: ctx.rateLimit, release: ctx.release }
  }),
})
