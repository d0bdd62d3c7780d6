import { parentPort, workerData } from 'node:worker_threads'
import type { StoreDefinition } from '../../collection.ts'
import { createCommitter } from './committer.ts'
import type { Reply, WriterData, WriterMessage } from './writes.ts'

/** The program of the writer thread. It replies to each batch of writes once it is on disk. */

if (!parentPort) throw new Error('Only createWriter starts this program, as a thread.')
const port = parentPort
const data: WriterData = workerData
const { definition }: { definition?: StoreDefinition } = await import(data.definition)
if (!definition) throw new Error(`${data.definition} must export what defineStore returns under the name "definition".`)
const committer = createCommitter(data, await definition.forSqlite())

reply('ready')
port.on('message', (message: WriterMessage) => {
  if (message === 'close') {
    committer.close()
    port.close()
    return
  }
  reply(committer.commit(message))
  // After the reply, so that no response waits for it.
  const warning = committer.checkpoint()
  if (warning !== undefined) reply({ warning })
})

function reply(message: Reply): void {
  port.postMessage(message)
}
