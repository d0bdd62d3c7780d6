import httpProxy from '@fastify/http-proxy'
import fastify from 'fastify'
import { onTestFinished } from 'vitest'

/**
 * Starts a proxy that serves a service below a path, such as `/shop`. It removes the path from requests and changes no
 * response. Any other path is 404.
 */
export async function startPrefixProxy(service: string, prefix: string): Promise<string> {
  const app = fastify({ forceCloseConnections: true })
  await app.register(httpProxy, {
    upstream: service,
    prefix,
    rewritePrefix: '/',
    internalRewriteLocationHeader: false,
    destroyAgent: true,
  })
  onTestFinished(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}
