import { parentPort, workerData } from 'node:worker_threads'
import { type CopyStep, copyDatabase } from './copy.ts'
import { CopyFailed } from './copy-failure.ts'

/** The thread that makes one copy. It tells each step, and a failure in words that can be sent. */

export type CopyMessage = { step: CopyStep; total: number } | Pick<CopyFailed, 'at' | 'message'>

const port = parentPort
if (!port) throw new Error('The copy is made in a thread of its own.')

try {
  copyDatabase(workerData, (step, total) => port.postMessage({ step, total } satisfies CopyMessage))
} catch (error) {
  if (!(error instanceof CopyFailed)) throw error
  port.postMessage({ at: error.at, message: error.message } satisfies CopyMessage)
}
