import { join } from 'node:path'

/** The console that the global setup builds. */
export const consoleFolder = join(import.meta.dirname, '../../web/dist')
/** The largest file that the service serves: the script of the API reference. */
export const largestFile = '/docs/scalar.js'
