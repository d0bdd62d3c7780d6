import { Worker } from 'node:worker_threads'

/** Hears what a thread says, but not what Node itself sends on the same way (`node --watch`: which files to watch). */
export function onMessage<Message extends object>(thread: Worker, listener: (message: Message) => void): void {
  thread.on('message', (message: Message) => {
    if (!('watch:import' in message || 'watch:require' in message)) listener(message)
  })
}

/** Starts a thread of a file. */
export function startThread(file: URL, workerData: unknown): Worker {
  return new Worker(file, {
    workerData,
    execArgv: ['--import', new URL('../fast-start.mjs', import.meta.url).href],
  })
}
