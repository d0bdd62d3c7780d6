import { describe, expect } from 'vitest'
import { choiceOf, searchField, showing } from '../../../engine/console/test/browser/list.ts'
import { boxOf, closeByEscape, inspect, isFocused, press } from '../../../engine/console/test/browser/page.ts'
import { addButton, panel } from '../../../engine/console/test/browser/panels.ts'
import { account } from '../../../engine/console/test/browser/session.ts'
import type { Page } from '../../../engine/console/test/browser/visit.ts'
import { test } from '../console.ts'

test('the console can be used with the keyboard alone', async ({ open }) => {
  const { key, page } = await open(25, { session: 'none' })
  await page.getByLabel('API key').waitFor()
  await page.keyboard.type(key)
  await press(page, 'Enter')
  await showing(page, '1–20 of 25')

  await tabTo(page, 'Next')
  await press(page, 'Enter')
  await showing(page, '21–25 of 25')
  expect(await focused(page)).toBe('Next')
  await tabTo(page, 'pet 21')
  await press(page, 'Enter')
  await panel(page, 'pet 21').waitFor()
  await press(page, 'Escape')
  await panel(page).waitFor({ state: 'hidden' })
  await expect.poll(() => focused(page)).toBe('pet 21')

  await page.reload()
  await showing(page, '21–25 of 25')
  await tabTo(page, 'all')
  await press(page, 'ArrowRight', 'ArrowRight')
  await page.getByRole('heading', { name: 'No pending pets' }).waitFor()
  await tabTo(page, 'Add pet')
  await press(page, 'Enter')
  await expect.poll(() => focused(page)).toBe('name')
  await page.keyboard.type('Tom')
  await press(page, 'Tab')
  await page.keyboard.type('7')
  await press(page, 'Tab', 'Tab', 'Enter')
  await page.getByRole('row', { name: '26 Tom Filter by Category 7 Status of Tom: Pending' }).waitFor()
  await expect.poll(() => focused(page)).toBe('Tom')
})

describe('shortcuts', () => {
  test('an arrow key reaches the first row right after the sign-in', async ({ open }) => {
    const { page } = await open(3)
    await showing(page, '1–3 of 3')
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe('pet 1')
    await page.getByRole('rowheader', { name: 'pet 1' }).waitFor()
  })

  test('search, go to an id, add, move between pets and pages, and show the help', async ({ open }) => {
    const { page } = await open(45)
    await showing(page, '1–20 of 45')
    for (const [each, shown] of [
      [']', '21–40 of 45'],
      [']', '41–45 of 45'],
      ['[', '21–40 of 45'],
    ] as const) {
      await page.keyboard.press(each)
      await showing(page, shown)
    }
    await press(page, 'j', 'j', 'ArrowDown', 'k')
    expect(await focused(page)).toBe('pet 22')
    await page.keyboard.press('/')
    // Letters are entries while a field has the focus.
    await page.keyboard.type('n')
    expect(await searchField(page).inputValue()).toBe('n')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('12')
    await page.keyboard.press('Enter')
    await panel(page, 'pet 12').waitFor()
    await page.keyboard.press('n')
    await panel(page, 'Add pet').waitFor()
    await page.keyboard.press('Escape')
    await panel(page, 'pet 12').waitFor()
    await closeByEscape(panel(page))

    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByText('Search, or go to an id').waitFor()
    await press(page, 'n', ']')
    await closeByEscape(help)
    await showing(page, '1–20 of 45')
    expect(await panel(page).count()).toBe(0)
  })

  test('work after the filter was used, and with the keys of other keyboard layouts', async ({ open }) => {
    const { page } = await open(25)
    await page.getByRole('radio', { name: 'Available' }).check()
    await showing(page, '1–20 of 25')
    const dispatch = (init: Pick<KeyboardEventInit, 'key' | 'code' | 'altKey' | 'ctrlKey'>) =>
      page.evaluate((each) => {
        document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ...each }))
      }, init)
    for (const [next, previous] of [
      // AltGr and 9 on a German keyboard, and Option and 6 on a Swiss one.
      [{ key: ']', ctrlKey: true, altKey: true }, { key: '[' }],
      [{ key: ']', altKey: true }, { key: '[' }],
      // The keys are where they are on a Latin keyboard if the layout has another script, here a Russian and a Greek one.
      [
        { key: 'ъ', code: 'BracketRight' },
        { key: 'х', code: 'BracketLeft' },
      ],
    ] as const) {
      await dispatch(next)
      await showing(page, '21–25 of 25')
      await dispatch(previous)
      await showing(page, '1–20 of 25')
    }
    await dispatch({ key: 'о', code: 'KeyJ' })
    await dispatch({ key: 'ξ', code: 'KeyJ' })
    expect(await focused(page)).toBe('pet 2')
    // Dvorak has b where others have n.
    await dispatch({ key: 'b', code: 'KeyN' })
    expect(await panel(page).count()).toBe(0)
    await dispatch({ key: 'n', code: 'KeyL' })
    await panel(page, 'Add pet').waitFor()
    await closeByEscape(panel(page))
    await dispatch({ key: 'Т', code: 'KeyN' })
    await panel(page, 'Add pet').waitFor()
  })

  test('are in the tooltips', async ({ open }) => {
    const { page } = await open(25)
    await showing(page, '1–20 of 25')
    for (const [target, text] of [
      [addButton(page), 'Add pet (n)'],
      [page.getByRole('button', { name: 'Next', exact: true }), 'Next page (])'],
      [page.getByRole('button', { name: 'Keyboard shortcuts' }), 'Keyboard shortcuts (?)'],
    ] as const) {
      await target.hover()
      await expect.poll(() => hints(page)).toEqual([text])
    }
  })
})

describe('shortcuts of one character', () => {
  test('can be turned off in the help, and stay off after a reload', async ({ open }) => {
    const { page } = await open(25)
    await showing(page, '1–20 of 25')
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    const setting = help.getByRole('checkbox', { name: 'Single-key shortcuts' })
    expect(await setting.evaluate((box) => box.getAttribute('aria-describedby'))).toBe('shortcuts-note')
    await setting.uncheck()
    await inspect(page, 'help-without-letters')
    for (let visits = 0; visits < 2; visits++) {
      await closeByEscape(help)
      await page.getByRole('link', { name: 'pet 1', exact: true }).focus()
      for (const each of ['x', 'j', 'n', ']', '?', '/']) await page.keyboard.press(each)
      expect(await focused(page)).toBe('pet 1')
      expect(new URL(page.url()).search).toBe('')
      expect(await page.getByRole('dialog').count()).toBe(0)
      expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)
      await addButton(page).hover()
      await expect.poll(() => hints(page)).toEqual(['Add pet'])
      await page.keyboard.press('ArrowDown')
      expect(await focused(page)).toBe('pet 2')
      await page.keyboard.press('Space')
      expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1)
      await page.reload()
      await showing(page, '1–20 of 25')
    }
    await choiceOf(page, 'pet 1', 'Status of pet 1: Available').click()
    await page.getByRole('menuitemradio', { name: 'Sold' }).click()
    // Without the shortcut, which is off.
    await page.getByRole('status').getByText('pet 1 is sold.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await setting.check()
    await closeByEscape(help)
    await page.keyboard.press(']')
    await showing(page, '21–25 of 25')
  })
})

test('the first Tab key leads to the rows, or to the title of an empty list', async ({ open }) => {
  for (const [count, target] of [
    [3, 'pet 1'],
    [0, 'Pets'],
  ] as const) {
    const { page } = await open(count, { isLoaded: true })
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the pets')
    await inspect(page, 'skip-link')
    await page.keyboard.press('Enter')
    expect(await focused(page)).toBe(target)
  }
})

test('the Tab key stops in one row of the list, at each of its controls', async ({ open }) => {
  const { page } = await open(25)
  await showing(page, '1–20 of 25')
  await tabTo(page, 'pet 1')
  await press(page, 'Shift+Tab', 'Space')
  await showing(page, '1 selected')
  await press(page, 'Space', 'Tab', 'Tab')
  expect(await focused(page)).toBe('1')
  await page.keyboard.press('Tab')
  expect(await isFocused(choiceOf(page, 'pet 1', 'Status of pet 1: Available'))).toBe(true)
  await page.keyboard.press('Tab')
  const size = page.getByRole('combobox', { name: 'Pets per page' })
  expect(await isFocused(size)).toBe(true)
  // Also from the status.
  await press(page, 'Shift+Tab', 'ArrowDown', 'ArrowDown', 'Tab', 'Tab', 'Tab')
  expect(await isFocused(size)).toBe(true)
  await press(page, 'Shift+Tab', 'Shift+Tab', 'Shift+Tab')
  expect(await focused(page)).toBe('pet 3')
  await page.getByRole('button', { name: 'Next', exact: true }).click()
  await showing(page, '21–25 of 25')
  await size.focus()
  await press(page, 'Shift+Tab', 'Shift+Tab', 'Shift+Tab')
  expect(await focused(page)).toBe('pet 21')
})

describe('a tooltip', () => {
  test('does not come back while the pointer is on the button that was clicked', async ({ open }) => {
    const { page } = await open()
    await showing(page, 'No pets')
    const { x, y, width, height } = await boxOf(account(page))
    await page.mouse.move(x + 2, y + 2)
    await expect.poll(() => hints(page)).toEqual(['Account'])
    await page.mouse.down()
    await page.mouse.up()
    await page.getByRole('dialog', { name: 'Account' }).getByText('Never').waitFor()
    // From the button to its icon, which is an element of its own.
    await page.mouse.move(x + width / 2 - 4, y + height / 2)
    await hasNoHint(page)
    await page.keyboard.press('Escape')
    await page.mouse.move(x + width / 2, y + height + 100)
    await account(page).hover()
    await expect.poll(() => hints(page)).toEqual(['Account'])
  })

  test('does not repeat a visible label, and does not appear when a sheet returns the focus', async ({ open }) => {
    const { page } = await open(0, { viewport: { width: 1_440, height: 900 } })
    await showing(page, 'No pets')
    const button = page.locator('.tools').getByRole('button', { name: 'Export' })
    await button.hover()
    await hasNoHint(page)
    await button.click()
    await page.getByRole('dialog', { name: 'Export pets' }).waitFor()
    await page.mouse.move(0, 0)
    await page.setViewportSize({ width: 1_200, height: 768 })
    await press(page, 'Tab', 'Escape')
    await expect.poll(() => isFocused(button)).toBe(true)
    await hasNoHint(page)
    await button.hover()
    await expect.poll(() => hints(page)).toEqual(['Export'])
  })
})

/** The tooltips that are visible. */
function hints(page: Page): Promise<(string | undefined)[]> {
  return page.locator('[data-hint]').evaluateAll((all) =>
    all
      .filter((element) => {
        const { content, display, visibility } = getComputedStyle(element, '::after')
        return content !== 'none' && display !== 'none' && visibility === 'visible'
      })
      .map((element) => element.getAttribute('data-hint') ?? undefined),
  )
}

/** No tooltip appears within twice the time that it needs. */
async function hasNoHint(page: Page): Promise<void> {
  await page.waitForTimeout(800)
  expect(await hints(page)).toEqual([])
}

async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    if ((await focused(page)) === name) return
  }
  throw new Error(`60 presses of Tab do not reach ${name}.`)
}

/** The text of the focused element, or the name or value of a focused field. */
function focused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (element instanceof HTMLInputElement) return element.type === 'radio' ? element.value : element.name
    return element?.textContent ?? undefined
  })
}
