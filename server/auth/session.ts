import { z } from 'zod'
import manifest from '../../package.json' with { type: 'json' }
import { Time } from '../api/time.ts'
import { createBuilder, type ProcedureMeta, type SessionContext } from '../api/trpc.ts'

const RateLimit = z.object({
  calls: z.int().meta({ description: 'The number of calls that the key may make in each window.' }),
  seconds: z.int().meta({ description: 'The length of a window in seconds.' }),
  remaining: z.int().meta({ description: 'The number of calls that are left in this window.' }),
  resetsIn: z.int().meta({ description: 'Seconds until the next window starts.' }),
})

const Session = z.object({
  keyName: z.string().meta({ description: 'The name of the API key.' }),
  expiresAt: Time.optional().meta({ description: 'When the key expires. Absent if it does not.' }),
  rateLimit: RateLimit.optional().meta({ description: 'The state after this call. Absent if there is no limit.' }),
  release: z.string().meta({ description: 'The version of the service.' }),
})

// Without `cache`, because a cached response is sent to every API key.
const { procedure, router } = createBuilder<SessionContext, Omit<ProcedureMeta, 'cache'>>()

export const sessionRouter = router({
  /** Describes the API key of the request. */
  current: procedure.output(Session).query(({ ctx: { keyName, keyExpiresAt, rateLimit } }) => ({
    keyName,
    expiresAt: keyExpiresAt,
    rateLimit,
    release: manifest.version,
  })),
})
