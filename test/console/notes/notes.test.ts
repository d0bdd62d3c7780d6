import { join } from 'node:path'
import { build, mergeConfig } from 'vite'
import { expect, vi } from 'vitest'
import { consoleConfig } from '../../../engine/console/vite.ts'
import { startTestApi } from '../../../engine/test/notes/tests.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { inspect, listen, panel, showing, signIn, test } from '../console.ts'
import { appRouter } from './router.ts'

const web = join(import.meta.dirname, '../../../web')

test('a product of two resources has a page for each, with its own path in the commands', async ({ visit }) => {
  const { app, key, store } = await startTestApi({ router: appRouter, consoleFolder: await buildConsole() })
  const page = await visit(await listen(app), { timezoneId: 'Asia/Kathmandu' })
  await signIn(page, key)
  const entry = (name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name })
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  expect(await entry('Notes').getAttribute('aria-current')).toBe('page')

  await entry('Books').click()
  await page.getByRole('heading', { name: 'No books yet' }).waitFor()
  expect(await entry('Notes').getAttribute('aria-current')).toBeNull()
  expect(await entry('Books').getAttribute('aria-current')).toBe('page')
  expect(await page.title()).toBe('Books · Notes')
  expect(new URL(page.url()).search).toBe('?resource=books')
  await page.locator('.command', { hasText: '/v1/team/all-books' }).waitFor()
  await inspect(page, 'books')

  await page.keyboard.press('n')
  await panel(page, 'Add book').waitFor()
  await page.keyboard.type('Garden')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Garden', exact: true }).click()
  await panel(page, 'Garden').waitFor()
  await panel(page).getByText('Request and JSON').click()
  await panel(page).locator('.command', { hasText: '/v1/team/all-books?limit=1' }).waitFor()
  await page.reload()
  await panel(page, 'Garden').waitFor()

  await entry('Notes').click()
  await page.getByRole('heading', { name: 'No notes yet' }).waitFor()
  expect(await panel(page).count()).toBe(0)
  await page.keyboard.press('n')
  const form = panel(page, 'Add note')
  await form.getByRole('textbox', { name: 'Text', exact: true }).fill('Call Ann')
  await form.getByRole('textbox', { name: 'Priority' }).fill('1')
  await form.getByLabel('Due').fill('2026-11-20T08:30:00')
  await form.getByRole('textbox', { name: 'Book' }).fill('1')
  await inspect(page, 'add-note')
  await page.keyboard.press('Enter')
  await showing(page, '1 of 1')
  expect(await store.notes.get(1n)).toMatchObject({ bookId: 1n, dueAt: new Date('2026-11-20T02:45:00.000Z') })

  // The form had an entry in the history, too.
  await page.goBack()
  await page.goBack()
  await panel(page, 'Garden').waitFor()
  expect(await entry('Books').getAttribute('aria-current')).toBe('page')
})

/** Builds the console of the notes and the books. */
async function buildConsole(): Promise<string> {
  const folder = temporaryFolder()
  vi.stubEnv('NODE_ENV', 'production')
  await build(
    mergeConfig(consoleConfig(web, appRouter), {
      configFile: false,
      logLevel: 'warn',
      build: { outDir: folder, emptyOutDir: true },
      plugins: [
        {
          name: 'notes',
          transformIndexHtml: {
            order: 'pre',
            handler: (html: string) => html.replace('/main.tsx', '../test/console/notes/main.tsx'),
          },
        },
      ],
    }),
  )
  vi.unstubAllEnvs()
  return folder
}
