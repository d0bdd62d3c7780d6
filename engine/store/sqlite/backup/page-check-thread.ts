import { workerData } from 'node:worker_threads'
import { checkPages, connect, using } from '../file/connection.ts'

// Safe: the check of a snapshot starts this thread, with the path of the copy.
const copy = workerData as string
using(connect(copy, { readonly: true, busyTimeout: 0 }), (connection) => checkPages(connection, 'integrity_check'))
