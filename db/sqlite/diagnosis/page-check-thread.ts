import { workerData } from 'node:worker_threads'
import { checkPages, connect } from '../file/connection.ts'
import type { PageCheckData } from './page-check.ts'

// Only checkPagesInThread starts this thread.
const { path, check } = workerData as PageCheckData
const connection = connect(path, { readonly: true, busyTimeout: 0 })
try {
  checkPages(connection, check)
} finally {
  connection.close()
}
