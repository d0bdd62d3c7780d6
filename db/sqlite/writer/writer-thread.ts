import { parentPort, workerData } from 'node:worker_threads'
import type { Loaded } from '../../resource.ts'
import type { SqliteResource } from '../resource.ts'
import type { WriterData } from './messages.ts'
import { serve } from './serve.ts'

/** The program of the writer thread. */

if (!parentPort) throw new Error('Only a Writer starts this program, as a thread.')
const data: WriterData = workerData
const { resources }: { resources: { forSqlite(): Promise<Loaded<SqliteResource>> } } = await import(data.resources)
serve(parentPort, data, await resources.forSqlite())
