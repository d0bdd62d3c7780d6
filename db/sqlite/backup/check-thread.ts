import { workerData } from 'node:worker_threads'
import { checkPages, connect } from '../connection.ts'

// Checks the file that `workerData` names. The check is one long call into SQLite, which would keep the main thread from
// handling signals.

const connection = connect(workerData, { readonly: true, busyTimeout: 0 })
try {
  checkPages(connection, 'integrity_check')
} finally {
  connection.close()
}
