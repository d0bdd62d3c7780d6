import fastifyStatic from '@fastify/static'
import fastify from 'fastify'
import { onTestFinished } from 'vitest'
import type { AtEnd } from './temporary.ts'

/** Serves the files of a folder, and returns the origin of the server. */
export async function serveFolder(root: string, atEnd: AtEnd = onTestFinished): Promise<string> {
  const app = fastify()
  await app.register(fastifyStatic, { root })
  atEnd(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}
