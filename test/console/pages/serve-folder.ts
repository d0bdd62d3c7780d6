import { preview } from 'vite'
import { onTestFinished } from 'vitest'
import type { AtEnd } from '../../../engine/test/support/temporary.ts'

/** Serves the files of a folder, and returns the origin of the server. */
export async function serveFolder(root: string, atEnd: AtEnd = onTestFinished): Promise<string> {
  const server = await preview({
    root,
    configFile: false,
    appType: 'mpa',
    logLevel: 'silent',
    build: { outDir: '.' },
    preview: { host: '127.0.0.1', port: 0 },
  })
  atEnd(() => server.close())
  return new URL(server.resolvedUrls?.local[0] ?? '').origin
}
