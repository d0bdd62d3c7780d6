// Preloaded to set synchronous=NORMAL in each thread where the code asks for FULL. It shows that the trial can fail.
import { createRequire, syncBuiltinESMExports } from 'node:module'

const require = createRequire(import.meta.url)
const threads = require('node:worker_threads')
const Database = require('better-sqlite3')

const { pragma } = Database.prototype
Database.prototype.pragma = function (source, options) {
  return pragma.call(this, source.replace('synchronous = FULL', 'synchronous = NORMAL'), options)
}

threads.Worker = class extends threads.Worker {
  constructor(file, { execArgv = [], ...options }) {
    super(file, { ...options, execArgv: ['--import', import.meta.url, ...execArgv] })
  }
}
syncBuiltinESMExports()
