import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Builds the console, once for all test files. */
export async function setup(): Promise<void> {
  await promisify(execFile)('sh', [join(import.meta.dirname, '../../web/build-if-stale.sh')])
}
