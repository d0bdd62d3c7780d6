import { expect } from 'vitest'
import { addPets, openTestStore, startTestApi } from '../helpers.ts'
import {
  choose,
  consoleFolder,
  inspect,
  listen,
  names,
  pageButton,
  showing,
  signIn,
  startConsole,
  test,
} from './console.ts'

test('a service that goes away and comes back', async ({ visit }) => {
  const store = await openTestStore()
  await addPets(store, 50)
  const { url, key, app } = await startConsole({ store })
  const page = await visit(url)
  await signIn(page, key)
  await pageButton(page, 'Next').click()
  await showing(page, 'Pets 21 to 40')

  await app.close()
  await pageButton(page, 'Previous').click()
  await page.getByRole('status').getByText('The service cannot be reached. Last loaded at').waitFor()
  expect(await names(page)).toHaveLength(20)
  await inspect(page, 'out-of-date')
  await choose(page, 'sold')
  const failure = page.getByRole('heading', { name: 'The pets could not be loaded' })
  await failure.waitFor()
  await inspect(page, 'unreachable')
  // Two trials of two requests later it still stands there, and has not been away meanwhile.
  await page.evaluate(() => {
    new MutationObserver(() => Object.assign(window, { flickered: true })).observe(document.body, {
      childList: true,
      subtree: true,
    })
  })
  for (let failed = 0; failed < 4; failed++) await page.waitForEvent('requestfailed')
  expect(await page.evaluate(() => 'flickered' in window)).toBe(false)
  await failure.waitFor()

  const successor = await startTestApi({ store, consoleFolder, keyName: 'successor' })
  await listen(successor.app, Number(new URL(url).port))
  await page.getByRole('heading', { name: 'No pet is sold' }).waitFor()
  await page.getByRole('button', { name: 'Show all' }).click()
  await showing(page, 'Pets 1 to 20')
})

test('a device that is offline is told so', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url)
  await signIn(page, key)
  await page.getByRole('heading', { name: 'There are no pets yet' }).waitFor()
  await page.context().setOffline(true)
  await choose(page, 'sold')
  await page.getByText('The service cannot be reached: this device is offline. Trying again…').waitFor()
  await inspect(page, 'offline')
  await page.context().setOffline(false)
  await page.getByRole('heading', { name: 'No pet is sold' }).waitFor()
})
