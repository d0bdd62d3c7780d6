import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Loaded } from '../../resource.ts'
import type { SqliteResource } from '../resource.ts'
import { GroupCommit } from './group-commit.ts'
import type { Order, Settled, WriterData } from './messages.ts'
import { WriterFiles } from './writer-files.ts'
import type { Write } from './writes.ts'

/** Performs the orders that arrive at the port. It replies to each batch of writes once it is on disk. */
export function serve(port: MessagePort, data: WriterData, resources: Loaded<SqliteResource>): void {
  const files = new WriterFiles(data.path, resources.resources)
  const commits = new GroupCommit(files, resources.migrations, data.lockTimeout)
  let received = 0

  function commit(batch: Write[]): void {
    const rejected = Math.max(0, Number(Atomics.load(data.rejectedCount, 0)) - received)
    received += batch.length
    reply(commits.commit(batch, rejected))
    // After the reply, so that no response waits for it.
    const note = commits.checkpoint()
    if (note) reply(note)
  }

  function reply(settled: Settled): void {
    port.postMessage(settled)
  }

  // The thread is ready.
  reply({ outcomes: [] })
  // Group commit: the writes that have arrived during a transaction form the next one, so one fsync serves them all.
  port.on('message', (first: Order) => {
    const batch: Write[] = []
    let order: Order | undefined = first
    for (; Array.isArray(order); order = receiveMessageOnPort(port)?.message) batch.push(order)
    if (batch.length > 0) commit(batch)
    if (order === 'release') reply({ outcomes: [], release: { ...files.release(), isReply: true } })
    else if (typeof order === 'number') files.permit(order)
    else if (order === 'close') {
      files.close()
      port.close()
    }
  })
}
