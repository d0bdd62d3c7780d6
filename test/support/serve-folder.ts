import fastifyStatic from '@fastify/static'
import fastify from 'fastify'
import { onTestFinished } from 'vitest'

/** Serves what is in the folder, now or later, and returns its origin. */
export async function serveFolder(root: string): Promise<string> {
  const app = fastify()
  await app.register(fastifyStatic, { root })
  onTestFinished(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}
