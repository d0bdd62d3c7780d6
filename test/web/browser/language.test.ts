import { expect } from 'vitest'
import { enterPet, inspect, startConsole, submitButton, test } from '../console.ts'

/** What has room for its text in one line. */
const oneLine = '.header nav a, .chip > span, .list-range, .list-age > .number'
const german = { locale: 'de-AT' }

test('the language is that of the browser, or the one that the user chose, and a form keeps its entries', async ({
  visit,
}) => {
  const { url, key, store } = await startConsole()
  await store.pets.create({ name: 'Rex', categoryId: 7n, status: 'sold' })
  const page = await visit(url, { key })
  expect(await page.locator('html').getAttribute('lang')).toBe('en')
  await enterPet(page, 'R'.repeat(256), 'seven')
  await submitButton(page).click()
  await page.getByText('The category is not an integer.').waitFor()

  await page.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch')
  await page.getByRole('heading', { name: 'Tiere', exact: true }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
  // What the service said is in the language, too.
  await page.getByText('„Kategorie“ ist keine ganze Zahl.').waitFor()
  await page.getByText('„Name“ braucht 1 bis 255 Zeichen.').waitFor()
  expect(await page.getByRole('textbox', { name: 'Kategorie' }).inputValue()).toBe('seven')
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('R'.repeat(256))

  await page.reload()
  await page.getByRole('columnheader', { name: 'Kategorie' }).waitFor()
  await page.getByRole('combobox', { name: 'Sprache' }).selectOption('English')
  await page.getByRole('columnheader', { name: 'Category' }).waitFor()
})

test('the language of an open tab follows that of another one', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url, { key })
  const tab = await page.context().newPage()
  await tab.goto(url)
  await tab.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch')
  await page.getByRole('heading', { name: 'Tiere', exact: true }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('de')
})

test('English loads no texts of another language', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url, { key })
  await page.getByRole('heading', { name: 'Pets', exact: true }).waitFor()
  const loaded = () => page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))
  expect((await loaded()).filter((name) => /\/de-/.test(name))).toEqual([])
  await page.getByRole('combobox', { name: 'Language' }).selectOption('Deutsch')
  await page.getByRole('heading', { name: 'Tiere', exact: true }).waitFor()
  expect((await loaded()).filter((name) => /\/de-/.test(name))).toHaveLength(1)
})

test.for([320, 360, 1440])('German texts fit at a width of %i px', async (width, { visit }) => {
  const { url, key, store } = await startConsole()
  for (let pet = 0; pet < 25; pet++) await store.pets.create({ name: `Rex ${pet}`, categoryId: 7n, status: 'pending' })
  const page = await visit(url, { key, ...german, viewport: { width, height: 900 } })
  const fits = async (name: string) => {
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), name).toBeLessThanOrEqual(0)
    // A label of one pixel is only for screen readers.
    const cutOff = (labels: Element[]) =>
      labels
        .filter((each) => each.clientWidth > 1 && each.scrollWidth > each.clientWidth)
        .map((each) => each.textContent)
    expect(await page.locator('.button-label').evaluateAll(cutOff), name).toEqual([])
    const wrapped = (texts: Element[]) =>
      texts
        .filter((each) => {
          const range = document.createRange()
          range.selectNodeContents(each)
          return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1
        })
        .map((each) => each.textContent)
    expect(await page.locator(oneLine).evaluateAll(wrapped), name).toEqual([])
    const isOneLine = await page
      .locator('.tool-line')
      .evaluateAll((lines) => lines.every((each) => each.clientHeight < 50))
    if (width === 1440) expect(isOneLine, name).toBe(true)
    await inspect(page, `german-${name}-${width}`)
  }
  await page.getByRole('row', { name: 'Rex 0' }).waitFor()
  await fits('list')
  await page.locator('.tools').getByRole('button', { name: 'Tier hinzufügen' }).click()
  await page.locator('form').getByRole('button', { name: 'Hinzufügen' }).click()
  await page.getByText('„Kategorie“ fehlt.').waitFor()
  await fits('add')
  await page.getByRole('button', { name: 'Schließen' }).click()
  await page.locator('.tools').getByRole('button', { name: 'Mehrere' }).click()
  await page.getByRole('textbox', { name: 'CSV, TSV oder JSON einfügen' }).fill('Rex,7\nTom,sieben')
  await page.getByText('1 Tier kann hinzugefügt werden, 1 Zeile hat einen Fehler.').waitFor()
  await fits('bulk')
  await page.getByRole('button', { name: 'Schließen' }).first().click()
  await page.getByRole('button', { name: 'Konto' }).click()
  await page.getByRole('button', { name: 'Abmelden', exact: true }).click()
  await page.getByRole('heading', { name: 'Anmelden' }).waitFor()
  await fits('sign-in')
})
