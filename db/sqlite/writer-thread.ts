import { parentPort, workerData } from 'node:worker_threads'
import { connect } from './connection.ts'
import { commitTogether, prepareWrites, type Write } from './writes.ts'

/** The thread that owns the only connection that writes. It answers each batch once it is on disk. */

const port = parentPort
if (!port) throw new Error('The writer runs in a thread of its own.')

const connection = connect(workerData.path, { busyTimeout: workerData.busyTimeout })
const writes = prepareWrites(connection)

port.on('message', (message: Write[] | 'close') => {
  if (message === 'close') {
    connection.close()
    port.close()
  } else {
    port.postMessage(commitTogether(connection, writes, message))
  }
})
