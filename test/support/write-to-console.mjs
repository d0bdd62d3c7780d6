import { Worker } from 'node:worker_threads'

/** On the first SIGUSR2, writes a warning of Node, and to the console of a thread. On the second one, crashes. */
process.once('SIGUSR2', () => {
  process.emitWarning('a warning')
  new Worker('console.log("a line"); console.error("a line")', { eval: true })
  process.once('SIGUSR2', () => {
    throw new Error('a crash')
  })
})
