import { expect } from 'vitest'
import { showing } from '../../../engine/console/test/browser/list.ts'
import { inspect, isFocused, loseResponses } from '../../../engine/console/test/browser/page.ts'
import { panelsLoaded } from '../../../engine/console/test/browser/panels.ts'
import type { Page } from '../../../engine/console/test/browser/visit.ts'
import { test } from '../console.ts'

test('removed pets are added again once each, also if responses are lost', async ({ start }) => {
  const { store, show } = await start(50)
  await store.pets.update({ id: 3n, set: { categoryId: 7n, status: 'sold' } })
  const page = await show({ path: '/?size=50' })
  await showing(page, '1–50 of 50')
  await removePage(page, 50)
  const notice = page.getByRole('region', { name: 'Last change' })
  await notice.getByText('50 pets were removed.').waitFor()
  await inspect(page, 'removed-many')
  await page.getByRole('heading', { name: 'No pets yet' }).waitFor()

  await page.getByRole('button', { name: 'Changes' }).click()
  const changes = page.getByRole('complementary', { name: 'Changes of pets' })
  await loseResponses(page, '**/trpc/pets.create**', 2)
  await changes.getByRole('button', { name: 'Add all 50 again' }).click()
  const job = page.getByRole('dialog', { name: 'Add 50 pets again', exact: true })
  await job.getByText('The service cannot be reached.').waitFor()
  await inspect(page, 'adding-again')
  await page.unroute('**/trpc/pets.create**')
  await notice.getByText('50 pets were added again, with new ids.').waitFor()
  await showing(page, '1–50 of 50')
  const pets = await store.pets.list({ limit: 100, cursor: 0n })
  expect(pets).toHaveLength(50)
  expect(pets.find(({ name }) => name === 'pet 3')).toMatchObject({ categoryId: 7n, status: 'sold' })
  expect(pets.every(({ id }) => id > 50n)).toBe(true)
  expect(await notice.getByRole('button', { name: /Undo|again/ }).count()).toBe(0)
})

test('a removal that a reload of the page has sent can be added again', async ({ open }) => {
  const { store, page } = await open(3, { isLoaded: true })
  await page.getByRole('link', { name: 'pet 2' }).press('Delete')
  const notice = page.getByRole('region', { name: 'Last change' })
  await notice.getByText('pet 2 will be removed.').waitFor()
  await page.reload()
  await notice.getByText('pet 2 was removed.').waitFor()
  await notice.getByRole('button', { name: 'Add again' }).click()
  await notice.getByText('pet 2 #4 was added again.').waitFor()
  expect((await store.pets.list({ limit: 9, cursor: 0n })).map(({ id }) => id)).toEqual([1n, 3n, 4n])
})

test('the notice and the result of a removal offer to add the removed pets again', async ({ open }) => {
  const { store, page } = await open(4)
  await showing(page, '1–4 of 4')
  await page.route('**/trpc/pets.remove**', async (route) => {
    await store.pets.update({ id: 2n, set: { status: 'sold' } })
    await page.unroute('**/trpc/pets.remove**')
    await route.continue()
  })
  await removePage(page, 4)
  const result = page.getByRole('dialog', { name: 'Remove 4 pets', exact: true })
  await result.getByText('3 done, 1 skipped').waitFor()
  await expect.poll(() => isFocused(result.getByRole('button', { name: 'Leave 1 as it is' }))).toBe(true)
  await inspect(page, 'removed-some')
  await result.getByRole('button', { name: 'Add all 3 again' }).click()
  const notice = page.getByRole('region', { name: 'Last change' })
  await notice.getByText('3 pets were added again, with new ids.').waitFor()
  await showing(page, '1–4 of 4')

  await removePage(page, 4)
  await notice.getByRole('button', { name: 'Add all 4 again' }).click()
  await notice.getByText('4 pets were added again, with new ids.').waitFor()
  await showing(page, '1–4 of 4')
  expect((await store.pets.list({ limit: 9, cursor: 0n })).map(({ id }) => id)).toEqual([8n, 9n, 10n, 11n])
})

test('pets that were added again before are not added twice, and are counted apart', async ({ start }) => {
  const { store, show } = await start(45)
  const page = await show({ path: '/?size=50' })
  await showing(page, '1–45 of 45')
  await removePage(page, 45)
  const notice = page.getByRole('region', { name: 'Last change' })
  let requests = 0
  await page.route('**/trpc/pets.create**', (route) => (requests++ === 0 ? route.continue() : route.abort()))
  await notice.getByRole('button', { name: 'Add all 45 again' }).click()
  const job = page.getByRole('dialog', { name: 'Add 45 pets again', exact: true })
  await job.getByText('The service cannot be reached.').waitFor()
  await job.getByRole('button', { name: 'Stop' }).click()
  await job.getByText('20 done, 20 not confirmed, 5 not sent').waitFor()
  await job.getByRole('button', { name: 'Close' }).last().click()
  await page.unroute('**/trpc/pets.create**')
  // A slow batch does not get the ids after those of the next one.
  let batches = 0
  await page.route('**/trpc/pets.create**', async (route) => {
    if (batches++ === 1) await page.waitForTimeout(500)
    await route.continue()
  })

  const addFromChanges = async (page: Page) => {
    await page.getByRole('button', { name: 'Changes' }).click()
    await page.getByRole('button', { name: 'Add all 45 again' }).click()
  }
  await addFromChanges(page)
  await notice.getByText('25 pets were added again, 20 had already been.').waitFor()
  await showing(page, '1–45 of 45')
  // Another tab does not know of it.
  const other = await show({ path: '/?size=50' })
  await showing(other, '1–45 of 45')
  await addFromChanges(other)
  await other.getByText('45 pets had already been added again.').first().waitFor()
  const pets = await store.pets.list({ limit: 100, cursor: 0n })
  expect(pets.map(({ id, name }) => `${id} ${name}`)).toEqual(
    Array.from({ length: 45 }, (_, index) => `${index + 46} pet ${index + 1}`),
  )
})

/** Removes all pets of the page. */
async function removePage(page: Page, count: number): Promise<void> {
  await panelsLoaded(page)
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('button', { name: `Remove ${count} pets` }).click()
}
