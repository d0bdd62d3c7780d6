import { expect } from 'vitest'
import { showing } from '../../../engine/console/test/browser/list.ts'
import { inspect, isFocused } from '../../../engine/console/test/browser/page.ts'
import { panel } from '../../../engine/console/test/browser/panels.ts'
import type { Locator, Page } from '../../../engine/console/test/browser/visit.ts'
import { test } from '../console.ts'

const rex = { name: 'Rex', categoryId: 7n, status: 'pending' as const }

test('the number of a status sets it from anywhere in the panel, but not from a field', async ({ open }) => {
  const { page } = await open([rex], { isLoaded: true, path: '/?pet=1' })
  const status = (name: string) => panel(page).getByRole('button', { name, exact: true })
  await status('Pending').waitFor()
  expect(await status('Pending').getAttribute('data-hint')).toBe('Pending (2)')
  await expect.poll(() => isFocused(panel(page))).toBe(true)
  await page.keyboard.press('3')
  await page.getByRole('status').getByText('Rex is sold.').waitFor()
  expect(await isFocused(panel(page))).toBe(true)
  await page.keyboard.press('Control+1')
  await page.keyboard.press('e')
  await page.getByRole('textbox', { name: 'Name' }).fill('')
  await page.keyboard.press('1')
  await page.keyboard.press('Enter')
  await panel(page, '1').waitFor()
  expect(await status('Sold').getAttribute('aria-pressed')).toBe('true')
})

test('the key of a panel that covers a phone works, too', async ({ open }) => {
  const { page } = await open([rex], { viewport: { width: 360, height: 740 }, path: '/?pet=1' })
  await page.getByRole('button', { name: 'Pending', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Close', exact: true }).focus()
  await page.keyboard.press('1')
  await page.getByRole('status').getByText('Rex is available.').waitFor()
})

test('a row that no longer matches says so in words', async ({ open }) => {
  const { page } = await open([rex, 2], { isLoaded: true, path: '/?status=pending' })
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Rex' }) })
  await row.getByRole('button', { name: /^Status of Rex/ }).click()
  await page.getByRole('menuitemradio', { name: 'Sold' }).click()
  const text = 'No longer matches'
  await page.getByTitle(text).waitFor()
  // Once it is saved.
  await expect.poll(() => row.getByRole('link').getAttribute('aria-description')).toBe(text)
  await inspect(page, 'left')
})

test('the translation of a browser keeps names and keys', async ({ open }) => {
  const { page } = await open([rex], { isLoaded: true })
  await page.getByRole('button', { name: /^Status of Rex/ }).click()
  await page.getByRole('menuitemradio', { name: 'Sold' }).click()
  await page.getByRole('status').getByText('Rex is sold.').waitFor()
  await page.getByRole('button', { name: 'Changes' }).click()
  const changes = panel(page, 'Changes of pets')
  for (const part of [
    changes.getByText('Rex #1'),
    changes.locator('.changes-by bdi').first(),
    page.locator('.search kbd'),
  ])
    expect(await isTranslated(part)).toBe(false)
})

function isTranslated(part: Locator): Promise<boolean> {
  return part.evaluate((each) => each instanceof HTMLElement && each.translate)
}

test('forced colors show the dots of what is chosen, in the panel and in the filter', async ({ open }) => {
  const { page } = await open([rex], { isLoaded: true, path: '/?pet=1&status=pending', forcedColors: 'active' })
  for (const selector of ['.choices > [aria-pressed=true]', '.chip:has(:checked)'])
    expect(await colorsOf(page, selector)).toEqual(['rgb(255, 255, 255)', 'rgb(255, 255, 255)'])
  await inspect(page, 'forced-choices')
})

/** The colors of the text and of its dot. */
function colorsOf(page: Page, selector: string): Promise<string[]> {
  return page.locator(selector).evaluate((chosen) => {
    const dot = chosen.querySelector('.choice-dot') ?? chosen
    return [getComputedStyle(chosen).color, getComputedStyle(dot).borderTopColor]
  })
}

test('a screen reader hears of no key on a phone, and of a removal when it has happened', async ({ open }) => {
  const { page } = await open([rex, 2], {
    isLoaded: true,
    viewport: { width: 360, height: 740 },
    isMobile: true,
    hasTouch: true,
    path: '/?pet=1',
  })
  await page.getByRole('button', { name: 'Remove pet' }).tap()
  const announced = page.getByRole('status').filter({ hasText: 'Rex' })
  await expect.poll(() => announced.allTextContents()).toEqual(['Rex will be removed. '])
  await page.getByRole('button', { name: 'Dismiss' }).tap()
  await expect.poll(() => announced.allTextContents(), { timeout: 20_000 }).toEqual(['Rex was removed.'])
  await showing(page, '1–2 of 2')
})
