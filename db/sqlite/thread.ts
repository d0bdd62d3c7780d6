import { Worker } from 'node:worker_threads'

/** Starts a thread of a file of this folder. */
export function startThread(file: string, workerData: unknown): Worker {
  return new Worker(new URL(file, import.meta.url), {
    workerData,
    execArgv: ['--import', new URL('../fast-start.mjs', import.meta.url).href],
  })
}
