import { Worker } from 'node:worker_threads'

/** Starts a worker thread with the preload script that makes it start faster. */
export function startThread(file: URL, workerData: unknown): Worker {
  return new Worker(file, { workerData, execArgv: ['--import', new URL('../fast-start.mjs', import.meta.url).href] })
}
