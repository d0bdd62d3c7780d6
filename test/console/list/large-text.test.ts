import { expect } from 'vitest'
import { showing } from '../../../engine/console/test/browser/list.ts'
import { boxOf, inspect } from '../../../engine/console/test/browser/page.ts'
import { openBulkAdd, openTools } from '../../../engine/console/test/browser/panels.ts'
import { account } from '../../../engine/console/test/browser/session.ts'
import type { Locator, Page } from '../../../engine/console/test/browser/visit.ts'
import { test } from '../console.ts'

// WCAG 2.2, success criterion 1.4.4.

const pets = [
  { name: 'Rex the dog', categoryId: 9_007_199_254_740_993n, status: 'pending' as const },
  { name: 'Tom', categoryId: 7n, status: 'sold' as const },
  43,
]
const selectAll = 'Select all pets of this page'

test('a phone shows a text of twice the size without scrolling sideways', async ({ open }) => {
  const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
  const { page, url } = await open(pets, { ...phone, isLoaded: true })
  await page.getByRole('link', { name: 'Rex the dog' }).waitFor()
  await enlarge(page)
  await showing(page, '1–20 of 45')
  expect(await cutOff(page)).toEqual([])
  expect((await boxOf(page.locator('.search input'))).width).toBeGreaterThan(250)
  await expectToFit(page.locator('thead label'), page.locator('thead'))
  await page.getByRole('checkbox', { name: selectAll }).check()
  await page.getByRole('button', { name: 'Select all 45 that match' }).waitFor()
  expect(await cutOff(page)).toEqual([])
  await inspect(page, 'large-text-selection')
  await page.getByRole('button', { name: 'Clear the selection' }).tap()
  await openTools(page)
  await page.locator('.tools-menu').getByText('Changes').waitFor()
  expect(await cutOff(page)).toEqual([])
  await page.keyboard.press('Escape')
  await account(page).tap()
  await page.getByRole('button', { name: 'Sign out in all tabs' }).waitFor()
  expect(await cutOff(page)).toEqual([])
  await page.keyboard.press('Escape')
  const sheet = await openBulkAdd(page)
  await sheet.getByRole('textbox').fill('Rex,x,sold')
  await sheet.locator('.bulk-problem').waitFor()
  expect(await cutOff(page)).toEqual([])

  await page.goto(`${url}/?pet=1`)
  await enlarge(page)
  await page.getByRole('button', { name: 'Sold', exact: true }).tap()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  expect(await cutOff(page)).toEqual([])
  const notice = page.locator('.edit-notice')
  await expectToFit(notice.locator('p'), notice)
  await inspect(page, 'large-text-panel')
})

test('the list beside a panel shows a text of twice the size, and keeps half of the page', async ({ open }) => {
  const { page } = await open(pets, { isLoaded: true, path: '/?pet=1' })
  await page.getByRole('button', { name: 'Pending', exact: true }).waitFor()
  await enlarge(page)
  expect((await boxOf(page.locator('.list'))).width).toBeGreaterThan(500)
  expect(await cutOff(page)).toEqual([])
  await expectToFit(page.locator('thead label'), page.locator('thead'))
  await inspect(page, 'large-text-beside')
})

/** As a browser does that enlarges only the text. */
async function enlarge(page: Page): Promise<void> {
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%'
  })
}

/** What is beside the window, or makes it scroll sideways. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement
    const parts = [...document.querySelectorAll<HTMLElement>('a, button, h1, h2, input:not([type=radio]), label, p')]
    const beside = parts.filter((part) => {
      const { left, right, width } = part.getBoundingClientRect()
      return width > 1 && part.checkVisibility() && (left < 0 || right > clientWidth)
    })
    return [
      ...(scrollWidth > clientWidth ? [`${scrollWidth} px`] : []),
      ...beside.map((part) => part.ariaLabel ?? part.innerText),
    ]
  })
}

async function expectToFit(text: Locator, around: Locator): Promise<void> {
  const [inner, outer] = [await boxOf(text), await boxOf(around)]
  expect(await text.evaluate((each) => each.scrollHeight - each.clientHeight)).toBeLessThanOrEqual(0)
  expect(inner.y).toBeGreaterThanOrEqual(outer.y)
  expect(inner.y + inner.height).toBeLessThanOrEqual(outer.y + outer.height)
}
