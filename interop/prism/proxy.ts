import { createLogger } from '@stoplight/prism-core'
import { getHttpOperationsFromSpec } from '@stoplight/prism-http'
import { createServer } from '@stoplight/prism-http-server'
import type { AtEnd } from '../../test/support/temporary.ts'

/** Does what `prism proxy --cors=false <document> <upstream>` does, on a free port. Returns its address. */
export async function startPrism(document: object, upstream: string, atEnd: AtEnd): Promise<string> {
  const prism = createServer(await getHttpOperationsFromSpec(document), {
    cors: false,
    config: {
      isProxy: true,
      upstream: new URL(upstream),
      upstreamProxy: undefined,
      checkSecurity: true,
      validateRequest: true,
      validateResponse: true,
      // What breaks the document is passed on all the same, and named in a header of the answer.
      errors: false,
      mock: { dynamic: false },
    },
    components: { logger: createLogger('prism', { level: 'silent' }) },
  })
  const address = await prism.listen(0, '127.0.0.1')
  atEnd(() => prism.close())
  return address
}
