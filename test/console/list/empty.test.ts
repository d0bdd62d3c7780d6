import { expect } from 'vitest'
import { showing } from '../../../engine/console/test/browser/list.ts'
import { boxOf, inspect } from '../../../engine/console/test/browser/page.ts'
import { test } from '../console.ts'

test('nothing covers the buttons of an empty list in a low window', async ({ open }) => {
  const { page } = await open(3, { viewport: { width: 740, height: 360 }, path: '/?search=qqqq' })
  const all = await boxOf(page.getByRole('button', { name: 'Show all pets' }))
  expect((await boxOf(page.locator('.list-footer'))).y).toBeGreaterThanOrEqual(all.y + all.height)
  await inspect(page, 'empty-low')
})

test('the title of the page names the search, and a long one fits the empty list', async ({ open }) => {
  const { page, url } = await open(3, { path: '/?search=sarka&status=sold' })
  await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  expect(await page.title()).toBe('“sarka” · Sold pets · Petstore')
  await page.goto(`${url}/?search=${'W'.repeat(600)}`)
  const text = page.locator('.message-text')
  await text.waitFor()
  const [inner, outer] = [await boxOf(text), await boxOf(page.locator('.item-list'))]
  expect(inner.width).toBeLessThan(outer.width)
  expect(inner.height).toBeLessThan(120)
  await inspect(page, 'long-search')
})

test('the last row looks as the others, and 16 digits fit a narrow list', async ({ open }) => {
  const pet = { name: 'Rex', categoryId: 9_007_199_254_740_993n, status: 'sold' as const }
  const { page } = await open([pet, 2], { viewport: { width: 640, height: 800 } })
  await showing(page, '1–3 of 3')
  const value = page.locator('.filter-value span').first()
  expect((await boxOf(value)).height).toBeLessThan(24)
  const offsets = await page.locator('tbody tr').evaluateAll((rows) =>
    rows.map((row) => {
      const link = row.querySelector('a')?.getBoundingClientRect().y ?? 0
      return [link - row.getBoundingClientRect().y, getComputedStyle(row.querySelector('td') ?? row).borderBottomWidth]
    }),
  )
  expect(new Set(offsets.map(String)).size, `${offsets}`).toBe(1)
  await inspect(page, 'last-row')
})
