import { join } from 'node:path'
import { expect } from 'vitest'
import { choose, names, pageButton, searchField, showing } from '../../../engine/console/test/browser/list.ts'
import { closeByEscape, holdRequests, inspect, isFocused, press } from '../../../engine/console/test/browser/page.ts'
import { panel } from '../../../engine/console/test/browser/panels.ts'
import type { Page } from '../../../engine/console/test/browser/visit.ts'
import { openDatabase } from '../../../engine/test/support/database.ts'
import { temporaryFolder } from '../../../engine/test/support/temporary.ts'
import { openFileStore } from '../../support/petstore.ts'
import { test } from '../console.ts'

/** Twenty pets in the category 1, and then these. */
const pets = [
  20,
  ...(['available', 'sold'] as const).map((status) => ({ name: 'Molly', categoryId: 7n, status })),
  { name: 'mole', categoryId: 3n, status: 'available' as const },
  { name: '  Mo ', categoryId: 12n, status: 'available' as const },
]

test('a search shows the names that contain the text, while it is typed', async ({ open }) => {
  const { page } = await open(pets)
  await showing(page, '1–20 of 24')
  await page.keyboard.type('/OL')
  await showing(page, '1–3 of 3')
  expect(await names(page)).toEqual(['Molly', 'Molly', 'mole'])
  await page.keyboard.type('l')
  await showing(page, '1–2 of 2')
  expect(await searchField(page).inputValue()).toBe('OLl')
  expect(new URL(page.url()).search).toBe('?search=OLl')

  await page.reload()
  await showing(page, '1–2 of 2')
  expect(await searchField(page).inputValue()).toBe('OLl')
  await choose(page, 'Sold')
  await showing(page, '1 of 1')
  expect(await page.title()).toBe('“OLl” · Sold pets · Petstore')
  await page.goBack()
  await showing(page, '1–2 of 2')
  // The second key leads from the field to the rows.
  await searchField(page).press('Enter')
  await page.keyboard.press('Enter')
  await panel(page, 'Molly').waitFor()
  await page.keyboard.press('j')
  await closeByEscape(panel(page))
  await showing(page, '1–2 of 2')
  // One entry of the history for the whole search.
  await page.goBack()
  await showing(page, '1–20 of 24')
  expect(await searchField(page).inputValue()).toBe('')
})

test.for(['none', 'active'] as const)(
  'a search marks what it has found, forced colors: %s',
  async (forcedColors, { open }) => {
    const accented = ['Rocky – ginger cat', 'Ginger', 'Šárka', 'Łódź S\u030ca\u0301rka', 'Пёс']
    const others = accented.map((name) => ({ name, categoryId: 5n, status: 'sold' as const }))
    const { page } = await open([...pets, ...others], { forcedColors, path: '/?search=OL' })
    const marks = page.locator('.item-list tbody mark')
    const marked = () =>
      marks.evaluateAll((all) =>
        all.map((mark) => `${mark.closest('td, th')?.getAttribute('data-field')} ${mark.textContent}`),
      )
    for (const [text, found] of [
      ['OL', ['name ol', 'name ol', 'name ol']],
      [' mo ', ['name Mo', 'name Mo', 'name mo', 'name Mo']],
      ['#7', ['id 7']],
      ['12', ['id 12', 'name 12', 'categoryId 12']],
      // Such as the list of a fair, of which one is wrong.
      ['#7, 3;99', ['id 7', 'id 3']],
      // All words, in any order, and also without accents.
      [' rocky  GINGER ', ['name Rocky', 'name ginger']],
      ['sarka', ['name Šárka', 'name S\u030ca\u0301rka']],
      ['arka lodz', ['name Łódź', 'name a\u0301rka']],
    ] as const) {
      await searchField(page).fill(text)
      await expect.poll(marked).toEqual(found)
    }
    const backgrounds = await marks.evaluateAll(([mark]) =>
      [mark, document.querySelector('.surface')].map((each) => each && getComputedStyle(each).backgroundColor),
    )
    expect(new Set(backgrounds).size).toBe(2)
    await inspect(page, `found-${forcedColors}`)
    // In other scripts, marks make other letters.
    await searchField(page).fill('пес лис')
    await page
      .getByText('No pet has “пес” and “лис” in its name. Enter a number to search by id or category.')
      .waitFor()
    // A text that would be a pattern.
    await searchField(page).fill('(')
    await page.getByText('No pet has this in its name. Enter a number to search by id or category.').waitFor()
  },
)

test('the Enter key goes to the result, also before it has arrived', async ({ open }) => {
  const { page } = await open(pets)
  await showing(page, '1–20 of 24')
  const release = await holdRequests(page, '**/trpc/pets.search**')
  await page.keyboard.type('/molly')
  await page.keyboard.press('Enter')
  expect(await isFocused(searchField(page))).toBe(true)
  release()
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Molly')
  await page.keyboard.type('/nobody')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No pets found' }).waitFor()
  expect(await isFocused(searchField(page))).toBe(true)
  // Typing on ends the wait.
  const releaseAll = await holdRequests(page, '**/trpc/pets.search**')
  await searchField(page).fill('mol')
  await page.keyboard.press('Enter')
  await searchField(page).fill('mo')
  releaseAll()
  await showing(page, '1–4 of 4')
  expect(await isFocused(searchField(page))).toBe(true)
})

test('digits find the pet with this id, and then those with them in category or name', async ({ open }) => {
  const { page } = await open(pets)
  await showing(page, '1–20 of 24')
  await page.keyboard.type('/7')
  await showing(page, '1–4 of 4')
  expect(await ids(page)).toEqual(['7', '17', '21', '22'])
  // The pet is in this category, too.
  await searchField(page).fill('1')
  await showing(page, '1–20 of 20')
  expect((await ids(page)).slice(0, 3)).toEqual(['1', '2', '3'])
  await searchField(page).fill('0012')
  await showing(page, '1–2 of 2')
  expect(await ids(page)).toEqual(['12', '24'])
  await page.keyboard.press('Enter')
  await panel(page, 'pet 12').waitFor()
  await showing(page, '1–20 of 24')
  expect(await searchField(page).inputValue()).toBe('')
  for (const [id, name] of [
    ['3', 'pet 3'],
    ['23', 'mole'],
    ['22', 'Molly'],
  ] as const) {
    await page.keyboard.type(`/${id}`)
    await page.keyboard.press('Enter')
    await panel(page, name).waitFor()
  }
  expect(new URL(page.url()).search).toMatch(/pet=22$/)
})

test('no letter is lost while the service responds slowly, and only the last search is shown', async ({ open }) => {
  const { page } = await open(pets)
  await showing(page, '1–20 of 24')
  const release = await holdRequests(page, '**/trpc/**')
  await page.keyboard.press('/')
  for (const letter of 'molly') {
    await page.keyboard.type(letter)
    // Longer than the pause after which the list shows the text.
    await expect.poll(() => new URL(page.url()).searchParams.get('search')).toContain(letter)
  }
  expect(await searchField(page).inputValue()).toBe('molly')
  await showing(page, 'Loading…')
  release()
  await showing(page, '1–2 of 2')
})

test('Escape and a button clear the search, and an empty result says what was searched for', async ({ open }) => {
  const { url, page } = await open(pets)
  await searchField(page).fill('zoe')
  await page.getByRole('heading', { name: 'No pets found' }).waitFor()
  await page.getByText('No pet has this in its name. Enter a number to search by id or category.').waitFor()
  await page.getByRole('button', { name: 'Show all pets' }).click()
  await showing(page, '1–20 of 24')
  expect(await searchField(page).inputValue()).toBe('')

  await searchField(page).fill('999')
  await page.getByText('No pet has this in its name, and none has this id or category.').waitFor()
  await page.keyboard.press('Escape')
  await showing(page, '1–20 of 24')
  expect([await searchField(page).inputValue(), await isFocused(searchField(page))]).toEqual(['', true])
  await searchField(page).fill('mole')
  await showing(page, '1 of 1')
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await showing(page, '1–20 of 24')
  expect(await isFocused(searchField(page))).toBe(true)
  // Also from the list.
  await searchField(page).fill('mole')
  await showing(page, '1 of 1')
  await page.getByRole('link', { name: 'mole' }).press('Escape')
  await showing(page, '1–20 of 24')
  // The row is gone.
  await expect.poll(() => isFocused(page.locator('h1'))).toBe(true)
  await page.goto(`${url}/?search=999&status=sold&categoryId=7`)
  await page.getByText('No sold pet with category 7 has this in its name, and none has this id.').waitFor()
})

test('Enter goes to the results of digits that are no id, and going back leads to them', async ({ open }) => {
  const bo = { name: 'Bo', categoryId: 777n, status: 'sold' as const }
  const { page } = await open([...pets, bo, bo, bo])
  await showing(page, '1–20 of 27')
  await page.keyboard.type('/777')
  await showing(page, '1–3 of 3')
  await page.keyboard.press('Enter')
  await expect.poll(() => isFocused(page.getByRole('link', { name: 'Bo' }).first())).toBe(true)
  expect([await panel(page).count(), new URL(page.url()).search]).toEqual([0, '?search=777'])

  // The results are not shown yet.
  await page.keyboard.type('/')
  await page.keyboard.press('Delete')
  await showing(page, '1–20 of 27')
  await page.keyboard.type('777')
  await page.keyboard.press('Enter')
  await showing(page, '1–3 of 3')
  expect(await searchField(page).inputValue()).toBe('777')

  await searchField(page).fill('7')
  await showing(page, '1–4 of 4')
  await expect.poll(async () => (await ids(page))[0]).toBe('7')
  await page.keyboard.press('Enter')
  await panel(page, 'pet 7').waitFor()
  await showing(page, '1–20 of 27')
  await page.goBack()
  await panel(page).waitFor({ state: 'hidden' })
  expect(await searchField(page).inputValue()).toBe('7')
})

test('an id may have a number sign, and names are found by digits, too', async ({ open }) => {
  const others = ['007', '-5', '#5 alive', 'Ünal', '29'].map((name) => ({
    name,
    categoryId: 5n,
    status: 'sold' as const,
  }))
  const { page } = await open([...pets, ...others])
  for (const [text, found] of [
    ['#5', ['pet 5', '#5 alive']],
    ['007', ['pet 7', 'Molly', 'Molly', '007']],
    ['-5', ['-5']],
    // Its id is the same number.
    ['29', ['29']],
    ['ün', ['Ünal']],
    ['u\u0308n', ['Ünal']],
  ] as const) {
    await searchField(page).fill(text)
    await expect.poll(() => names(page)).toEqual(found)
  }
  await searchField(page).fill('#12')
  await page.keyboard.press('Enter')
  await panel(page, 'pet 12').waitFor()
})

test('a link with a text that no name can contain says so', async ({ open }) => {
  const { url, page } = await open(pets)
  for (const text of ['%00', 'a%0Ab', 'x'.repeat(400), '%EF%BF%BD%0D']) {
    await page.goto(`${url}/?search=${text}`)
    await page.getByRole('heading', { name: 'No pets found' }).waitFor()
  }
  await page.getByRole('button', { name: 'Show all pets' }).click()
  await page.getByRole('link', { name: 'pet 12' }).waitFor()
})

test('a search keeps the order of the list, and the header changes it', async ({ open }) => {
  const { url, page } = await open(45, { path: '/?order=newest' })
  await showing(page, '1–20 of 45')
  await searchField(page).fill('pet')
  await expect.poll(() => new URL(page.url()).search).toBe('?search=pet&order=newest')
  await showing(page, '1–20 of 45')
  expect((await names(page))[0]).toBe('pet 45')
  const header = page.getByRole('columnheader', { name: 'Id' })
  expect(await header.getAttribute('aria-sort')).toBe('descending')
  await pageButton(page, 'Next').click()
  await expect.poll(async () => (await names(page))[0]).toBe('pet 25')
  await header.getByRole('button').click()
  await showing(page, '1–20 of 45')
  await expect.poll(async () => (await names(page))[0]).toBe('pet 1')
  expect(await header.getAttribute('aria-sort')).toBe('ascending')
  // Also from a link, where the page before is not known.
  await page.goto(`${url}/?search=pet&order=newest&cursor=26`)
  await showing(page, '20 pets, more follow')
  await pageButton(page, 'Previous').click()
  await expect.poll(async () => (await names(page))[0]).toBe('pet 45')
  await press(page, '/', 'Escape')
  expect(new URL(page.url()).search).toBe('?order=newest')
})

test('a search goes on through all pets, and shows how far it is and what it has found', async ({ start }) => {
  const path = join(temporaryFolder(), 'petstore.db')
  const store = openFileStore(path)
  const { show } = await start(0, { store })
  openDatabase(path).exec(`
    WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 20000)
    INSERT INTO pets (name, category_id, status)
    SELECT CASE n WHEN 15000 THEN 'Zoe' WHEN 3 THEN 'zoë' ELSE 'Rex' END, 1, 'sold' FROM counter
  `)
  const page = await show({ path: '/?order=newest' })
  const releaseSecond = await holdRequests(page, isPart('12501'))
  const releaseLast = await holdRequests(page, isPart('5001'))
  await searchField(page).fill('zo')
  await showing(page, '1 found, searching…')
  await page.getByText('7,500 compared').waitFor()
  expect(await names(page)).toEqual(['Zoe'])
  releaseSecond()
  await page.getByText('15,000 compared').waitFor()
  await inspect(page, 'search-going-on')
  releaseLast()
  await showing(page, '1–2 of 2')
  expect(await names(page)).toEqual(['Zoe', 'zoë'])
  await searchField(page).fill('molly')
  await page.getByRole('heading', { name: 'No pets found' }).waitFor()
})

/** Whether a request continues a search at this id. */
function isPart(cursor: string): (address: URL) => boolean {
  return ({ pathname, searchParams }) =>
    pathname.includes('pets.search') && (searchParams.get('input') ?? '').includes(`"cursor":"${cursor}"`)
}

function ids(page: Page): Promise<string[]> {
  return page.locator('.item-list tbody td[data-kind=id]').allTextContents()
}

test('the titles of the page and of an empty list name the search', async ({ open }) => {
  const { page } = await open(3, { path: '/?search=sarka&status=sold' })
  await page.getByRole('heading', { name: 'No sold pets found for “sarka”', exact: true }).waitFor()
  expect(await page.title()).toBe('“sarka” · Sold pets · Petstore')
})
