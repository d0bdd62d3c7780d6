import { createLogger } from '@stoplight/prism-core'
import { getHttpOperationsFromSpec } from '@stoplight/prism-http'
import { createServer } from '@stoplight/prism-http-server'
import type { AtEnd } from '../../engine/test/support/temporary.ts'

/** Starts a Prism like `prism proxy --cors=false <document> <upstream>` on a free port, and returns its URL. */
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
      // Prism forwards responses that violate the document, and lists the violations in a response header.
      errors: false,
      mock: { dynamic: false },
    },
    components: { logger: createLogger('prism', { level: 'silent' }) },
  })
  const address = await prism.listen(0, '127.0.0.1')
  atEnd(() => prism.close())
  return address
}
