import { join } from 'node:path'
import { build } from 'vite'
import { vi } from 'vitest'
import { addNotes, startTestApi, type TestApi } from '../../../test/notes/fixtures.ts'
import { appRouter } from '../../../test/notes/router.ts'
import { type AtEnd, temporaryFolder } from '../../../test/support/temporary.ts'
import { consoleConfig } from '../../vite.ts'
import { addButton, submitButton } from './panels.ts'
import { consoleTest, listen, type Open, opener, type Page, type Start, starter } from './visit.ts'

export const storageKey = 'notes-api-key'

type Running = TestApi & { url: string }

type Options = NonNullable<Parameters<typeof startTestApi>[0]>
type NewNote = Parameters<TestApi['store']['notes']['create']>[0]
export type OpenNotes = Open<Running, NewNote>

/** `start` starts the service of the notes and the books, with its console. */
export const test = consoleTest(storageKey).extend<{
  consoleFolder: string
  start: Start<Running, NewNote, Options>
  open: OpenNotes
}>({
  consoleFolder: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the required fixtures from the pattern.
    async ({}, use) => {
      const cleanings: Parameters<AtEnd>[0][] = []
      await use(await buildConsole((clean) => cleanings.push(clean)))
      for (const clean of cleanings) await clean()
    },
    { scope: 'worker' },
  ],
  start: async ({ consoleFolder, visit }, use) => {
    async function startConsole(options?: Options) {
      const api = await startTestApi({ ...options, consoleFolder })
      return { ...api, url: await listen(api.app) }
    }
    await use(starter(startConsole, { many: addNotes, one: (store, note: NewNote) => store.notes.create(note) }, visit))
  },
  open: async ({ start }, use) => use(opener(start)),
})

/** Builds the console of the notes and the books. */
async function buildConsole(atEnd: AtEnd): Promise<string> {
  const outDir = temporaryFolder(atEnd)
  const config = consoleConfig(join(import.meta.dirname, '../notes'), appRouter)
  vi.stubEnv('NODE_ENV', 'production')
  await build({ ...config, configFile: false, logLevel: 'warn', build: { ...config.build, outDir, emptyOutDir: true } })
  vi.unstubAllEnvs()
  return outDir
}

/** Opens the form for a new note and fills it in. */
export async function enterNote(page: Page, body: string, priority: string): Promise<void> {
  await addButton(page).click()
  await page.getByRole('textbox', { name: 'Text' }).fill(body)
  await page.getByRole('textbox', { name: 'Priority' }).fill(priority)
}

/** Adds a note with the form. */
export async function addNote(page: Page, body: string, priority: string): Promise<void> {
  await enterNote(page, body, priority)
  await submitButton(page).click()
}
