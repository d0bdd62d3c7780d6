import { join } from 'node:path'
import { expect } from 'vitest'
import { inspect } from '../../../engine/console/test/browser/page.ts'
import { signIn } from '../../../engine/console/test/browser/session.ts'
import { runCommand, waitForOutput } from '../../../engine/test/support/process.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { bannerKey, startServer } from '../../support/petstore.ts'
import { enterPet, test } from '../console.ts'

test('the URL and the key that the first start prints open the console', async ({ visit }) => {
  const server = await startServer()
  const key = await waitForOutput(server, bannerKey)
  const page = await visit(await waitForOutput(server, /"console":"([^"]+)"/))
  await signIn(page, key)
  await enterPet(page, 'Rex', '7')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: '1 Rex Filter by Category 7 Status of Rex: Available' }).first().waitFor()
})

test('the sign-in page shows a command that makes a key where the service runs', async ({ visit }) => {
  const folder = temporaryFolder()
  const server = await startServer({ folder })
  const page = await visit(server.url)
  await page
    .getByText('Ask the person who runs the service for a key. At its first start, the service prints one.')
    .waitFor()
  // What only developers understand is not there before.
  expect(await page.getByText('DATABASE_URL').count()).toBe(0)
  await inspect(page, 'sign-in-without-command')
  await page.getByRole('button', { name: 'Create another key' }).click()
  await inspect(page, 'sign-in-with-command')
  const command = (await page.locator('.command code').textContent()) ?? ''
  expect(command).toMatch(/^npx --no -- petstore keys create console-\w+$/)
  // Without the variable, the command would look for another database.
  await page.getByText('with its environment variables, such as DATABASE_URL').waitFor()
  const checkout = join(import.meta.dirname, '../../..')
  const env = { DATABASE_URL: `file:${join(folder, 'data/petstore.db')}` }
  const creating = runCommand(command.split(' '), { folder: checkout, env })
  expect(await creating.ended).toBe(0)
  await signIn(page, /pet_\S+/.exec(creating.stdout)?.[0] ?? '')
})
