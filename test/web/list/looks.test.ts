import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { addPets } from '../../support/database.ts'
import { inspect, startConsole, test } from '../console.ts'

test('the actions of a row hide none of its values', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 5)
  for (const { width, locale, search = '', isShown } of [
    { width: 1440, locale: 'en', isShown: true },
    { width: 1280, locale: 'de', isShown: true },
    { width: 1280, locale: 'en', search: '?pet=2', isShown: false },
    { width: 360, locale: 'en', isShown: false },
  ]) {
    const page = await visit(url + search, { key, locale, viewport: { width, height: 600 }, forcedColors: 'active' })
    const row = page.locator('.item-list tbody tr').nth(2)
    await row.hover()
    const actions = row.locator('.row-actions')
    expect(await actions.isVisible()).toBe(isShown)
    if (!isShown) continue
    const value = await boxOf(row.locator('[data-kind=choice] > *').first())
    expect(value.x + value.width).toBeLessThan((await boxOf(actions)).x + 12)
    expect(await actions.evaluate((each) => getComputedStyle(each).backgroundImage)).toBe('none')
  }
})

test('the bar of the selection shows its whole text on a small phone', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 5)
  for (const locale of ['en', 'de']) {
    const page = await visit(url, { key, locale, viewport: { width: 320, height: 600 } })
    await page.locator('.item-list tbody input').first().check()
    const text = page.locator('.selection-bar > .number')
    await text.waitFor()
    expect(await text.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
  }
})

test('a long name has three lines in the heading of the panel, beside the buttons', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  const name = 'W'.repeat(255)
  await store.pets.create({ name, categoryId: 1n, status: 'sold' })
  for (const width of [1280, 360]) {
    const page = await visit(`${url}/?pet=1`, { key, viewport: { width, height: 700 } })
    const heading = page.getByRole('heading', { level: 2, name })
    await heading.waitFor()
    expect(await heading.getAttribute('title')).toBe(name)
    const { y, height } = await boxOf(heading)
    expect(height).toBeLessThan(80)
    const close = await boxOf(page.getByRole('button', { name: 'Close', exact: true }).first())
    expect(close.y).toBeLessThan(y + (width === 1280 ? 8 : 40))
    await inspect(page, `long-name-${width}`)
  }
})

test('the shares of the choices are beside the chips and keep the tools in the same line', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  for (const locale of ['en', 'de']) {
    const page = await visit(url, { key, locale, viewport: { width: 1280, height: 600 } })
    const bar = await boxOf(page.locator('.share-bar'))
    const chips = await boxOf(page.locator('.filter-chips'))
    expect(bar.x).toBeGreaterThan(chips.x + chips.width)
    expect(bar.y + bar.height / 2).toBeCloseTo(chips.y + chips.height / 2, 0)
    expect((await boxOf(page.locator('.tools'))).y).toBe(chips.y)
  }
})

async function boxOf(element: Locator) {
  const box = await element.boundingBox()
  if (!box) throw new Error('The element is not visible.')
  return box
}
