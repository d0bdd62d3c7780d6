import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AtEnd, temporaryFolder } from './temporary.ts'

/** A file that is larger than what a connection buffers. */
export const largestFile = '/docs/scalar.js'

/** Makes the files of a console that shows nothing. */
export function consoleFolder(atEnd: AtEnd): string {
  const folder = temporaryFolder(atEnd)
  const page = '<!doctype html><html lang="en"><head><title>Notes</title></head><body></body></html>\n'
  const files = {
    'index.html': page,
    'docs/index.html': page,
    'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
    // Digits that no compression makes much smaller.
    [largestFile]: Array.from({ length: 400_000 }, () => Math.random().toString(36)).join('\n'),
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}
