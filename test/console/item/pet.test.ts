import { describe, expect } from 'vitest'
import { names, searchField, showing } from '../../../engine/console/test/browser/list.ts'
import { boxOf, closeByEscape, colorAt, holdRequests, inspect } from '../../../engine/console/test/browser/page.ts'
import { openItem, panel } from '../../../engine/console/test/browser/panels.ts'
import type { Page } from '../../../engine/console/test/browser/visit.ts'
import { test } from '../console.ts'

const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

const rex = { name: 'Rex', categoryId: 7n, status: 'pending' as const }

describe('the panel of a pet', () => {
  test('opens by a link in the list, by id and by URL', async ({ open }) => {
    const { url, page } = await open(3)
    await openItem(page, 'pet 2')
    expect(await page.title()).toBe('pet 2 · Petstore')
    await page.reload()
    await panel(page, 'pet 2').waitFor()
    expect(await panel(page).getByRole('definition').allTextContents()).toEqual([
      '2',
      'pet 2',
      '1',
      'AvailablePendingSold',
    ])
    await closeByEscape(panel(page))
    expect(await page.title()).toBe('Pets · Petstore')

    await searchField(page).fill(' 3 ')
    await page.keyboard.press('Enter')
    await panel(page, 'pet 3').waitFor()
    await page.goBack()
    await panel(page).waitFor({ state: 'hidden' })
    await page.goForward()
    await panel(page, 'pet 3').waitFor()
    // Another pet replaces this one, also in the history.
    await openItem(page, 'pet 1')
    await page.getByRole('button', { name: 'Close' }).click()
    await panel(page).waitFor({ state: 'hidden' })
    // Closing the panel goes back in the history instead of adding an entry to it.
    expect(page.url()).toBe(`${url}/`)
    expect(await page.evaluate(() => history.state?.isOverList)).not.toBe(true)
  })

  test('shows the pet without waiting for the service', async ({ open }) => {
    const { page } = await open(3)
    await showing(page, '1–3 of 3')
    await holdRequests(page)
    await page.getByRole('link', { name: 'pet 2' }).click()
    await panel(page, 'pet 2').getByRole('definition').getByText('Available').waitFor()
  })

  test('moves between the pets by keys and buttons, and returns the focus to the row', async ({ open }) => {
    const { url, page } = await open(25)
    await page.getByRole('link', { name: 'pet 2', exact: true }).click()
    for (const [press, name] of [
      ['ArrowDown', 'pet 3'],
      ['j', 'pet 4'],
      ['k', 'pet 3'],
      ['ArrowUp', 'pet 2'],
    ] as const) {
      await page.keyboard.press(press)
      await panel(page, name).waitFor()
    }
    await panel(page).getByRole('button', { name: 'Next pet' }).click()
    await panel(page, 'pet 3').waitFor()
    expect(await page.locator('[aria-current=true]').textContent()).toBe('pet 3')
    // The list beside the panel stays usable.
    await openItem(page, 'pet 19')
    await page.keyboard.press('j')
    await panel(page, 'pet 20').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('pet 20')
    expect(page.url()).toBe(`${url}/`)
  })

  test('turns the list to the page of a pet that was opened by its id or by a link', async ({ open }) => {
    const { url, page } = await open(300)
    await showing(page, '1–20 of 300')
    await searchField(page).fill('217')
    // On a busy machine, the list may show what was typed before the key is pressed.
    await showing(page, '1 of 1')
    await page.keyboard.press('Enter')
    await panel(page, 'pet 217').waitFor()
    await showing(page, '20 pets, from id 208')
    await page.keyboard.press('j')
    await panel(page, 'pet 218').waitFor()
    expect(await page.locator('[aria-current=true]').textContent()).toBe('pet 218')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('pet 218')
    await expect.poll(() => page.url()).not.toContain('pet=')
    await page.goBack()
    await showing(page, '1 of 1')
    await page.goBack()
    await showing(page, '1–20 of 300')

    await page.goto(`${url}/?pet=250`)
    await page.getByRole('link', { name: 'pet 250', exact: true }).waitFor()
    await page.keyboard.press('k')
    await panel(page, 'pet 249').waitFor()
    // A filter without the pet stays, and so does its page.
    await page.goto(`${url}/?status=sold&pet=250`)
    await panel(page, 'pet 250').waitFor()
    await page.getByRole('heading', { name: 'No sold pets' }).waitFor()
  })

  test('is a sheet on a narrow screen, which does not let the page scroll behind it', async ({ open }) => {
    const { page } = await open(25, phone)
    await showing(page, '1–20 of 25')
    await page.getByRole('link', { name: 'pet 7' }).tap()
    const dialog = page.getByRole('dialog', { name: 'pet 7' })
    await dialog.getByRole('definition').getByText('Available').waitFor()
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).overflowY)).toBe('hidden')
    await dialog.getByRole('button', { name: 'Next pet' }).tap()
    await page.getByRole('dialog', { name: 'pet 8' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('dialog', { name: 'pet 9' }).waitFor()
    expect(await page.getByRole('heading', { name: 'pet 9' }).getAttribute('aria-live')).toBe('polite')
    await page.getByRole('button', { name: 'Close' }).tap()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('pet 9')
  })

  test('copies a link and the pet as JSON', async ({ start }) => {
    const { url, rpc, show } = await start()
    await rpc.pets.create.mutate({ name: 'Rex "the dog"', categoryId: 9007199254740993n })
    const page = await show({ path: '/?pet=1', permissions: ['clipboard-read', 'clipboard-write'] })
    await panel(page).getByRole('button', { name: 'Copy link' }).waitFor()
    // The button says that it has copied for two seconds.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 1_000)
    const copied = async (name: string) => {
      await panel(page).getByRole('button', { name }).click()
      await panel(page).getByRole('button', { name: 'Copied' }).waitFor()
      await showing(page, 'Copied')
      await page.clock.runFor(2_000)
      await panel(page).getByRole('button', { name: 'Copied' }).waitFor({ state: 'hidden' })
      return page.evaluate(() => navigator.clipboard.readText())
    }
    expect(await copied('Copy link')).toBe(`${url}/?pet=1`)
    const json = await copied('Copy JSON')
    expect(json).toContain('"categoryId": 9007199254740993')
    expect(JSON.parse(json)).toMatchObject({ id: 1, name: 'Rex "the dog"', status: 'available' })
  })

  test('reports an id without a pet', async ({ open }) => {
    const { page } = await open(0, { path: '/?pet=999' })
    await panel(page).getByRole('heading', { name: 'No pet has the id 999' }).waitFor()
  })

  test('opens in another tab, which is signed in with the same key', async ({ open }) => {
    const { url, page } = await open(3)
    await showing(page, '1–3 of 3')
    // Chromium itself crashes in a tab that it opens for a click, also if the page is only a link. So the test opens it.
    await page.evaluate(() => {
      addEventListener('click', (event) => {
        Object.assign(window, { isLeftToBrowser: !event.defaultPrevented })
        event.preventDefault()
      })
    })
    const link = page.getByRole('link', { name: 'pet 2' })
    await link.click({ modifiers: ['Control'] })
    expect(await page.evaluate(() => Reflect.get(window, 'isLeftToBrowser'))).toBe(true)
    const tab = await page.context().newPage()
    await tab.goto(new URL((await link.getAttribute('href')) ?? '', `${url}/`).href)
    await panel(tab, 'pet 2').waitFor()
    expect(await names(tab)).toHaveLength(3)
    expect(await panel(page).count()).toBe(0)
  })
})

test('forced colors show the dots of what is chosen, in the panel and in the filter', async ({ open }) => {
  const { page } = await open([rex], { isLoaded: true, path: '/?pet=1&status=pending', forcedColors: 'active' })
  for (const selector of ['.choices > [aria-pressed=true]', '.chip:has(:checked)'])
    expect(await colorsOf(page, selector)).toEqual(['rgb(255, 255, 255)', 'rgb(255, 255, 255)'])
  await inspect(page, 'forced-choices')
})

test('forced colors mark the open row at its side, and the focused and the selected ones all around', async ({
  open,
}) => {
  const { page } = await open([rex, 3], { isLoaded: true, path: '/?pet=1', forcedColors: 'active' })
  await page.getByRole('link', { name: 'pet 2' }).focus()
  const isMarked = async (title: string) => {
    const { x, y, width, height } = await boxOf(page.locator('tbody tr', { hasText: title }))
    const colors = [await colorAt(page, x + 3, y + height / 2), await colorAt(page, x + width - 1, y + height / 2)]
    return colors.map((color) => color.join() !== '255,255,255')
  }
  expect(await isMarked('Rex')).toEqual([true, false])
  expect(await isMarked('pet 2')).toEqual([false, true])
  await page.getByRole('checkbox', { name: 'Select pet 3' }).check()
  expect(await isMarked('pet 3')).toEqual([false, true])
})

/** The colors of the text and of its dot. */
function colorsOf(page: Page, selector: string): Promise<string[]> {
  return page.locator(selector).evaluate((chosen) => {
    const dot = chosen.querySelector('.choice-dot') ?? chosen
    return [getComputedStyle(chosen).color, getComputedStyle(dot).borderTopColor]
  })
}

test('a screen reader hears of no key on a phone, and of a removal when it has happened', async ({ open }) => {
  const { page } = await open([rex, 2], { ...phone, isLoaded: true, path: '/?pet=1' })
  await page.getByRole('button', { name: 'Remove pet' }).tap()
  const announced = page.getByRole('status').filter({ hasText: 'Rex' })
  await expect.poll(() => announced.allTextContents()).toEqual(['Rex will be removed. '])
  await page.getByRole('button', { name: 'Dismiss' }).tap()
  await expect.poll(() => announced.allTextContents(), { timeout: 20_000 }).toEqual(['Rex was removed.'])
  await showing(page, '1–2 of 2')
})
