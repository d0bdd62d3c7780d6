import { parentPort, workerData } from 'node:worker_threads'
import { orClose } from './connection.ts'
import { toFailure } from './failure.ts'
import { OpenFile } from './open-file.ts'
import type { WriterOptions } from './writer.ts'
import { commitTogether, type Outcome, prepareWrites, type Write, type Writes } from './writes.ts'

/** The thread that owns the only connection that writes. It answers each batch once it is on disk. */

const port = parentPort
if (!port) throw new Error('The writer runs in a thread of its own.')

const { path, busyTimeout }: WriterOptions = workerData
let file: OpenFile | undefined
let writes: Writes | undefined

port.on('message', (message: Write[] | 'close') => {
  if (message !== 'close') return port.postMessage(answer(message))
  file?.close()
  port.close()
})

/** Nothing is acknowledged that went into a file which is no longer in its place: the next batch opens the one that is. */
function answer(batch: Write[]): Outcome[] {
  try {
    const current = prepare()
    const outcomes = commitTogether(current.file.connection, current.writes, batch, busyTimeout)
    current.file.checkPlace()
    return outcomes
  } catch (error) {
    file?.close()
    writes = undefined
    return batch.map(() => ({ failure: toFailure(error) }))
  }
}

function prepare(): { file: OpenFile; writes: Writes } {
  if (!file || !writes) {
    const next = file?.reopen() ?? new OpenFile(path, { readonly: false })
    writes = orClose(next, () => prepareWrites(next.connection))
    file = next
  }
  return { file, writes }
}
