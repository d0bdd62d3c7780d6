import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'

/**
 * Reports on standard error, in lines of JSON, which of our files are in the stack when the event loop hands a write over,
 * and when the writer thread inserts a row.
 */
Error.stackTraceLimit = Number.POSITIVE_INFINITY

report(Worker.prototype, 'postMessage', ([message]) => Array.isArray(message) && message[0] === 'pets.create')

const Statement = new Database(':memory:').prepare('SELECT 1').constructor
report(Statement.prototype, 'run', (_parameters, { source }) => source.includes('INSERT INTO "pets"'))

function report(prototype, name, matches) {
  const original = prototype[name]
  prototype[name] = function (...parameters) {
    if (matches(parameters, this)) {
      const files = new Error().stack.match(/(?<=\/)(?:server|db)\/[\w./-]+(?=:\d+:\d+)/g) ?? []
      process.stderr.write(`${JSON.stringify({ stack: name, files: [...new Set(files)] })}\n`)
    }
    return original.apply(this, parameters)
  }
}
