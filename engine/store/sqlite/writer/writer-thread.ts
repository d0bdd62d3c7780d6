import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { StoreDefinition } from '../../collection.ts'
import { createCommitter } from './committer.ts'
import type { Settled, Write, WriterData, WriterMessage } from './writes.ts'

/** The program of the writer thread. It replies to each batch of writes once it is on disk. */

if (!parentPort) throw new Error('Only createWriter starts this program, as a thread.')
const port = parentPort
const data: WriterData = workerData
const { definition }: { definition?: StoreDefinition } = await import(data.definition)
if (!definition) throw new Error(`${data.definition} must export what defineStore returns under the name "definition".`)
const committer = createCommitter(data, await definition.forSqlite())
let received = 0

// The thread is ready.
reply({ outcomes: [] })
// Group commit: the writes that have arrived during a transaction form the next one, so one fsync serves them all.
port.on('message', (first: WriterMessage) => {
  const batch: Write[] = []
  let message: WriterMessage | undefined = first
  for (; Array.isArray(message); message = receiveMessageOnPort(port)?.message) batch.push(...message)
  if (batch.length > 0) commit(batch)
  if (message === 'close') {
    committer.close()
    port.close()
  }
})

function commit(batch: Write[]): void {
  const rejected = Math.max(0, Number(Atomics.load(data.rejectedCount, 0)) - received)
  received += batch.length
  reply(committer.commit(batch, rejected))
  // After the reply, so that no response waits for it.
  const warning = committer.checkpoint()
  if (warning !== undefined) reply({ outcomes: [], warning })
}

function reply(settled: Settled): void {
  port.postMessage(settled)
}
