import { workerData } from 'node:worker_threads'
import { checkPagesOf } from '../file/connection.ts'
import type { PageCheckData } from './diagnosis.ts'

// Only checkPagesInThread starts this thread.
const { path, check } = workerData as PageCheckData
checkPagesOf(path, check)
