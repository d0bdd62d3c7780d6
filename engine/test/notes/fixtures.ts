import { join } from 'node:path'
import { propagation } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { TRPCClient } from '@trpc/client'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { type ClientOptions, createClient } from '../../client/index.ts'
import { tracingWith } from '../../service/telemetry/tracing.ts'
import * as databases from '../support/database.ts'
import { fixturesOf } from '../support/fixtures-of.ts'
import type { Listening } from '../support/raw-http.ts'
import { temporaryFolder } from '../support/temporary.ts'
import type * as api from '../support/test-api.ts'
import { transferFixtures } from '../support/transfer.ts'
import { noteTransfer } from './notes.ts'
import type { AppRouter } from './router.ts'
import { service } from './service.ts'
import type { NotesStore } from './store.ts'
import { states } from './tables.ts'

/** What the tests of the engines do with the notes. */
const fixtures = await fixturesOf({
  service,
  commandLine: [
    process.execPath,
    `--import=${join(import.meta.dirname, '../../store/fast-start.mjs')}`,
    join(import.meta.dirname, 'main.ts'),
  ],
  createClient: createNotesClient,
  row: {
    table: 'notes',
    columns: '(id, body, priority, state)',
    valuesOf: (id) => `(${id}, 'Ann', 1, 'done')`,
    insertingFrom: (word) => `INSERT INTO notes (body, priority, state) SELECT '${word} ' || n, n, 'open'`,
    text: 'body',
    integer: { field: 'priority', column: 'priority' },
    choice: { field: 'state', values: states },
    word: 'note',
    index: 'notes_by_state',
    json: '{"body":"Ann","priority":7}',
  },
})

export const { addingRow, addingRows, apiKeyRecord, backUp, bannerKey, changedRows, commandLine } = fixtures
export const { compareChanges, contextWith, createFirstKey, createInTwoParts, createKey, createRequest } = fixtures
export const { expectAsAcknowledged, filesIn, isApiKey, keptIn, listen, makeBackup, makeDatabase } = fixtures
export const { mintApiKey, ndjsonOf, onSqlite, openFileStore, openSqlite, prepareSqlite, prepareWrites } = fixtures
export const { product, readConfig, restore, revokeKey, rotateKey, rowsIn, runProgram, runToEnd } = fixtures
export const { shareEmptiedTestApi, shareServer, shareTestApi, startChanges, startHttpServer, startLoad } = fixtures
export const { startOf, startOnSmallDisk, startServer, startTestApi, startTraced, startWithKey, storedTexts } = fixtures
export const { textsIn, unfitFiles, validBody, variableNames } = fixtures
export { service }
export type NotesClient = TRPCClient<AppRouter>
export type TestApi = api.TestApi<NotesStore, NotesClient>
export type ListeningApi = Listening<TestApi>

export function createNotesClient(options: ClientOptions): NotesClient {
  return createClient<AppRouter>(options)
}

/** Adds notes with the bodies `note 1`, `note 2` and so on, in the order of their ids. */
export async function addNotes(store: NotesStore, count: number): Promise<void> {
  const bodies = Array.from({ length: count }, (_, index) => `note ${index + 1}`)
  await Promise.all(bodies.map((body) => store.notes.create({ body, priority: 1n, state: 'open' })))
}

export const { checkText, exportText, importText } = transferFixtures(noteTransfer)

/** Starts the service on a file that another process locks until `release` is called. */
export async function startLocked(): Promise<ListeningApi & { release: () => void }> {
  const path = join(temporaryFolder(), 'notes.db')
  const store = fixtures.openSqlite({ path, busyTimeout: 10_000 })
  onTestFinished(() => store.close())
  const api = await fixtures.listen(await fixtures.startTestApi({ store }))
  const lock = new Database(path)
  onTestFinished(() => void lock.close())
  lock.exec('BEGIN IMMEDIATE')
  return { ...api, release: () => void lock.close() }
}

/**
 * Starts the service with an SDK of OpenTelemetry.
 *
 * @param ratio share of the requests without a trace of their caller that are traced
 */
export async function startTracedApi({
  ratio = 1,
  ...options
}: api.StartOptions<NotesStore> & { ratio?: number } = {}) {
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  onTestFinished(() => propagation.disable())
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  })
  const kind = databases.isOnPostgres ? 'postgres' : 'sqlite'
  const tracing = tracingWith(provider.getTracer('test'), kind, service.product.command)
  return { ...(await startTestApi({ ...options, tracing })), spans: () => exporter.getFinishedSpans() }
}
