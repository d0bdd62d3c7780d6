import { readdirSync, readFileSync } from 'node:fs'
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

/** Whether every thread of this process but the event loop sleeps: none runs or waits for a disk. False without Linux's /proc. */
export function otherThreadsSleep(): boolean {
  const threads = '/proc/self/task'
  try {
    const others = readdirSync(threads).filter((id) => id !== String(process.pid))
    // proc_pid_stat(5): R runs, and D waits for a disk. A name may contain anything but a line break.
    return others.every((id) => !/\) [RD] /.test(readFileSync(`${threads}/${id}/stat`, 'utf8')))
  } catch {
    return false
  }
}
