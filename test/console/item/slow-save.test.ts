import { describe, expect } from 'vitest'
import {
  addButton,
  choose,
  holdRequests,
  inspect,
  isFocused,
  justAdded,
  pageButton,
  panel,
  searchField,
  showing,
  submitButton,
} from '../../../engine/console/test/browser/page.ts'
import type { Page } from '../../../engine/console/test/browser/visit.ts'
import { addPets } from '../../support/petstore.ts'
import { enterPet, startConsole, test } from '../console.ts'

describe('while a pet is being saved', () => {
  test.for([
    { action: 'going back', run: (page: Page) => page.goBack(), place: '?status=available' },
    { action: 'a filter', run: (page: Page) => choose(page, 'Pending'), place: '?status=pending' },
    {
      action: 'the next page',
      run: (page: Page) => pageButton(page, 'Next').click(),
      place: '?status=available&cursor=20',
    },
    { action: 'a search', run: (page: Page) => searchField(page).fill('pet'), place: '?status=available&search=pet' },
    {
      action: 'a pet',
      run: (page: Page) => page.getByRole('link', { name: 'pet 6', exact: true }).click(),
      place: '?status=available&pet=6',
    },
    { action: 'the Escape key', run: (page: Page) => page.keyboard.press('Escape'), place: '?status=available' },
  ])('$action works, and the place stays once the pet is added', async ({ run, place }, { visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 30)
    const page = await visit(url, { key })
    await choose(page, 'Available')
    await showing(page, '1–20 of 30')
    const release = await holdRequests(page, '**/trpc/pets.create')
    await enterPet(page, 'Rex', '7')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await run(page)
    await expect.poll(() => new URL(page.url()).search.replace('&open=add', '')).toBe(place)
    release()
    await justAdded(page).getByRole('link', { name: 'Rex #31' }).waitFor()
    await panel(page, 'Add pet').waitFor({ state: 'hidden' })
    expect(new URL(page.url()).search).toBe(place)
    // The saved entries cannot be sent again.
    await addButton(page).click()
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('')
  })

  test('the focus stays where the user types, also if the form stays open for another pet', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 3)
    const page = await visit(url, { key })
    await enterPet(page, 'Rex', '7')
    await page.getByLabel('Add another').check()
    const release = await holdRequests(page, '**/trpc/pets.create')
    await submitButton(page).click()
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await searchField(page).fill('pe')
    release()
    await submitButton(page).waitFor()
    expect(await isFocused(searchField(page))).toBe(true)
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('')
  })

  test('the form can be closed and opened again, but not sent a second time', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 3)
    const page = await visit(url, { key })
    const release = await holdRequests(page, '**/trpc/pets.create')
    await enterPet(page, 'Rex', '7')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'hidden' })
    await page.getByRole('link', { name: 'pet 2', exact: true }).click()
    await panel(page, 'pet 2').waitFor()
    await page.keyboard.press('n')
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Rex')
    await page.getByRole('textbox', { name: 'Name' }).press('Enter')
    release()
    await panel(page, 'pet 2').waitFor()
    await justAdded(page).getByText('1 added').waitFor()
    expect(await store.pets.list({ limit: 9, cursor: 3n })).toHaveLength(1)
  })

  test('the form that is opened again shows what it will send for the next pet', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    const release = await holdRequests(page, '**/trpc/pets.create')
    await enterPet(page, 'Rex', '7')
    await page.getByRole('checkbox', { name: 'Add another' }).check()
    await submitButton(page).click()
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'hidden' })
    await page.keyboard.press('n')
    const [name, category] = ['Name', 'Category'].map((each) => page.getByRole('textbox', { name: each }))
    expect(await name?.inputValue()).toBe('Rex')
    release()
    await expect.poll(() => name?.inputValue()).toBe('')
    expect(await category?.inputValue()).toBe('7')
  })

  test('a failure is announced if the form is closed, and leads back to it', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 3)
    const page = await visit(url, { key })
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route('**/trpc/pets.create', async (route) => {
      await promise
      await route.fetch()
      await route.abort()
    })
    await enterPet(page, 'Rex', '7')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Adding…' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'pet 2', exact: true }).click()
    await panel(page, 'pet 2').waitFor()
    resolve()
    const notice = page.getByRole('alert')
    await notice.getByText('The pet may not have been added').waitFor()
    await panel(page, 'pet 2').waitFor()
    await inspect(page, 'not-added-closed')
    await page.keyboard.press('j')
    await panel(page, 'pet 3').waitFor()
    await page.getByRole('button', { name: 'Show the form' }).click()
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Rex')
    await page.getByRole('alert').getByText('Try again: the pet is added only once.').waitFor()
    // The form tries again by itself, and closes once that succeeds.
    await page.unroute('**/trpc/pets.create')
    await justAdded(page).getByRole('link', { name: 'Rex #4' }).waitFor()
    await panel(page, 'pet 3').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await store.pets.list({ limit: 9, cursor: 3n })).toHaveLength(1)
  })
})

test('adding pets adds at most one entry to the history', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url, { key })
  await choose(page, 'Available')
  for (const name of ['Rex', 'Tom', 'Zoe']) {
    await enterPet(page, name, '7')
    await page.keyboard.press('Enter')
    await justAdded(page).getByText(name).waitFor()
    await panel(page).waitFor({ state: 'hidden' })
  }
  await page.goBack()
  expect(page.url()).toBe(`${url}/?status=available`)
  await page.goBack()
  expect(page.url()).toBe(`${url}/`)
})
