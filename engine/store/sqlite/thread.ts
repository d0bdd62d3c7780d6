import { Worker } from 'node:worker_threads'

/** Starts a worker thread with the preload script that makes it start faster. */
export function startThread(file: URL, workerData: unknown): Worker {
  return new Worker(file, { workerData, execArgv: ['--import', new URL('../fast-start.mjs', import.meta.url).href] })
}

/** Listens to the messages of a thread, without those that Node itself sends over the same port (`node --watch`). */
export function onMessage<Message extends object>(thread: Worker, listener: (message: Message) => void): void {
  thread.on('message', (message: Message) => {
    if (!('watch:import' in message || 'watch:require' in message)) listener(message)
  })
}
