import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { addPets } from '../../support/database.ts'
import { addButton, inspect, panel, showing, startConsole, test } from '../console.ts'

test('the console can be used with the keyboard alone', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 25)
  const page = await visit(url)
  const press = async (...keys: string[]) => {
    for (const each of keys) await page.keyboard.press(each)
  }
  await page.getByLabel('API key').waitFor()
  await page.keyboard.type(key)
  await press('Enter')
  await showing(page, '1–20 of 25')

  await tabTo(page, 'Next')
  await press('Enter')
  await showing(page, '21–25 of 25')
  expect(await focused(page)).toBe('Next')
  await tabTo(page, 'pet 21')
  await press('Enter')
  await panel(page, 'pet 21').waitFor()
  await press('Escape')
  await panel(page).waitFor({ state: 'hidden' })
  await expect.poll(() => focused(page)).toBe('pet 21')

  await page.reload()
  await showing(page, '21–25 of 25')
  await tabTo(page, 'all')
  await press('ArrowRight', 'ArrowRight')
  await page.getByRole('heading', { name: 'No pending pets' }).waitFor()
  await tabTo(page, 'Add pet')
  await press('Enter')
  await expect.poll(() => focused(page)).toBe('name')
  await page.keyboard.type('Tom')
  await press('Tab')
  await page.keyboard.type('7')
  await press('Tab', 'Tab', 'Enter')
  await page.getByRole('row', { name: '26 Tom 7 Pending' }).first().waitFor()
  await expect.poll(() => focused(page)).toBe('Add pet')
})

describe('shortcuts', () => {
  test('go to an id, add, move between pets and pages, and show the help', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 45)
    const page = await visit(url, { key })
    await showing(page, '1–20 of 45')
    for (const [each, shown] of [
      [']', '21–40 of 45'],
      [']', '41–45 of 45'],
      ['[', '21–40 of 45'],
    ] as const) {
      await page.keyboard.press(each)
      await showing(page, shown)
    }
    for (const each of ['j', 'j', 'ArrowDown', 'k']) await page.keyboard.press(each)
    expect(await focused(page)).toBe('pet 22')
    await page.keyboard.press('/')
    // Letters are entries while a field has the focus.
    await page.keyboard.type('n3')
    expect(await page.getByRole('textbox', { name: 'Go to id' }).inputValue()).toBe('n3')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('3')
    await page.keyboard.press('Enter')
    await panel(page, 'pet 3').waitFor()
    await page.keyboard.press('n')
    await panel(page, 'Add pet').waitFor()
    await page.keyboard.press('Escape')
    await panel(page, 'pet 3').waitFor()
    await page.keyboard.press('Escape')
    await panel(page).waitFor({ state: 'hidden' })

    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.getByText('Go to a pet by its id').waitFor()
    await inspect(page, 'help')
    await page.keyboard.press('n')
    await page.keyboard.press(']')
    await page.keyboard.press('Escape')
    await help.waitFor({ state: 'hidden' })
    await showing(page, '21–40 of 45')
    expect(await panel(page).count()).toBe(0)
  })

  test('work after the filter was used, and with the keys of other keyboard layouts', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 25)
    const page = await visit(url, { key })
    await page.getByRole('radio', { name: 'Available' }).check()
    await showing(page, '1–20 of 25')
    // AltGr and 9 on a German keyboard, and Option and 6 on a Swiss one.
    for (const modifiers of [{ ctrlKey: true, altKey: true }, { altKey: true }]) {
      await page.evaluate((init) => {
        const event = new KeyboardEvent('keydown', { key: ']', bubbles: true, ...init })
        document.activeElement?.dispatchEvent(event)
      }, modifiers)
      await showing(page, '21–25 of 25')
      await page.keyboard.press('[')
      await showing(page, '1–20 of 25')
    }
  })

  test('are in the tooltips', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 25)
    const page = await visit(url, { key })
    await showing(page, '1–20 of 25')
    for (const [target, text] of [
      [addButton(page), 'Add petn'],
      [page.getByRole('button', { name: 'Next', exact: true }), 'Next page]'],
      [page.getByRole('button', { name: 'Keyboard shortcuts' }), 'Keyboard shortcuts?'],
    ] as const) {
      await target.hover()
      await expect.poll(() => page.getByRole('tooltip').allTextContents()).toEqual([text])
    }
  })
})

test('the title has the focus after the sign-in, without a ring', async ({ visit }) => {
  const { url, key } = await startConsole()
  const page = await visit(url)
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('Pets')
  expect(await page.getByRole('heading', { level: 1 }).evaluate((title) => getComputedStyle(title).outlineStyle)).toBe(
    'none',
  )
})

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
