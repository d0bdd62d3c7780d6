// Preloaded to set synchronous=NORMAL in each thread where the code asks for FULL. It shows that the trial can fail.
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'
import Database from 'better-sqlite3'

const { pragma } = Database.prototype
Database.prototype.pragma = function (source, options) {
  return pragma.call(this, source.replace('synchronous = FULL', 'synchronous = NORMAL'), options)
}

class Worker extends threads.Worker {
  constructor(file: string | URL, { execArgv = [], ...options }: threads.WorkerOptions = {}) {
    super(file, { ...options, execArgv: ['--import', import.meta.url, ...execArgv] })
  }
}
Object.assign(threads, { Worker })
syncBuiltinESMExports()
