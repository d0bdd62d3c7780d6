import { describe, expect } from 'vitest'
import { createKey } from '../../../../test/notes/fixtures.ts'
import { choose, names, searchField, showing } from '../list.ts'
import { test } from '../notes.ts'
import { closeByEscape, holdRequests, press } from '../page.ts'
import { openBulkAdd, openItem, panel, panelsLoaded } from '../panels.ts'
import { openRequests } from '../session.ts'
import type { Page } from '../visit.ts'

const openings = ['Export', 'Add many', 'Keyboard shortcuts', 'Requests']
describe('going back in the history', () => {
  test.for(openings)('closes a dialog and then the panel: %s', async (name, { open }) => {
    const { url, page } = await open(3)
    const button = page.locator('.tools, .header').getByRole('button', { name, exact: true })
    const openDialog = () => (name === 'Requests' ? openRequests(page) : button.click())
    await openItem(page, 'note 2')
    for (let round = 1; round <= 2; round++) {
      await openDialog()
      await dialog(page).waitFor()
      await page.goBack()
      await dialog(page).waitFor({ state: 'hidden' })
      await panel(page, 'note 2').waitFor()
    }
    // A dialog that is closed in another way leaves no entry.
    await openDialog()
    await dialog(page).waitFor()
    await closeByEscape(dialog(page))
    await settled(page)
    await page.goBack()
    await panel(page).waitFor({ state: 'hidden' })
    expect(page.url()).toBe(`${url}/`)
  })

  test('closes only the dialog on top, and keeps the text of an import', async ({ open }) => {
    const { url, store, page } = await open()
    const sheet = await openBulkAdd(page, 'Tom,7')
    await page.goto(`${url}/#key=${await createKey(store, 'other')}`)
    const question = page.getByRole('dialog', { name: 'This link has another key' })
    await question.waitFor()
    await page.goBack()
    await question.waitFor({ state: 'hidden' })
    expect(await sheet.count()).toBe(1)
    await page.goBack()
    await sheet.waitFor({ state: 'hidden' })
    await openBulkAdd(page)
    expect(await sheet.getByRole('textbox').first().inputValue()).toBe('Tom,7')
  })

  test('does not stop a running import, and is possible after it', async ({ open }) => {
    const { page } = await open()
    const sheet = await openBulkAdd(page, 'Tom,7\nZoe,7')
    const release = await holdRequests(page, '**/trpc/notes.create**')
    await sheet.getByRole('button', { name: 'Add 2 notes' }).click()
    for (let round = 1; round <= 2; round++) {
      await page.goBack()
      await sheet
        .getByRole('alert')
        .getByText('Notes are being added. Stop that before you close this panel.')
        .waitFor()
    }
    release()
    await sheet.getByText('2 notes were added.').waitFor()
    await sheet.getByRole('button', { name: 'View notes' }).click()
    await sheet.waitFor({ state: 'hidden' })
    await expect.poll(() => names(page)).toEqual(['Tom', 'Zoe'])
    await openBulkAdd(page)
    await page.goBack()
    await sheet.waitFor({ state: 'hidden' })
  })

  test('works after a reload and after going forward, which open no dialog again', async ({ open }) => {
    const { url, page } = await open(3)
    await choose(page, 'Open')
    await openBulkAdd(page)
    await page.reload()
    await showing(page, '1–3 of 3')
    await openBulkAdd(page)
    await page.goBack()
    await dialog(page).waitFor({ state: 'hidden' })
    await page.goForward()
    await settled(page)
    expect(await dialog(page).count()).toBe(0)
    await page.goBack()
    expect(page.url()).toBe(`${url}/`)
    await searchField(page).fill('note 3')
    await expect.poll(() => names(page)).toEqual(['note 3'])
  })

  test('closes a dialog above the panel of a phone first', async ({ open }) => {
    const { url, page } = await open(3)
    await openItem(page, 'note 2')
    await page.keyboard.press('?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.waitFor()
    // The panel of a phone is a dialog, over which no key opens another one.
    await page.setViewportSize({ width: 360, height: 740 })
    const sheet = page.getByRole('dialog', { name: 'note 2' })
    await page.goBack()
    await help.waitFor({ state: 'hidden' })
    await sheet.waitFor()
    await page.goBack()
    await sheet.waitFor({ state: 'hidden' })
    expect(page.url()).toBe(`${url}/`)
  })

  test('works after dialogs were opened and closed quickly', async ({ open }) => {
    const { url, page } = await open(45)
    await choose(page, 'Open')
    await showing(page, '1–20 of 45')
    await openItem(page, 'note 2')
    await panelsLoaded(page)
    for (const each of ['?', 'Escape', '?', 'Escape', '?', 'Escape', 'j', '?', 'Escape', ']']) {
      await page.keyboard.press(each)
    }
    await showing(page, '21–40 of 45')
    await panel(page, 'note 3').waitFor()
    await page.keyboard.press('?')
    await dialog(page).waitFor()
    // The dialog, the next page, and the panel.
    await page.evaluate(() => {
      for (let steps = 0; steps < 3; steps++) history.back()
    })
    await expect.poll(() => page.url()).toBe(`${url}/?state=open`)
    await dialog(page).waitFor({ state: 'hidden' })
    await page.keyboard.press('?')
    await dialog(page).waitFor()
    await press(page, 'Escape', 'n')
    await panel(page, 'Add note').waitFor()
    await closeByEscape(panel(page))
    expect(page.url()).toBe(`${url}/?state=open`)
  })

  test('what is opened before the browser went back stays open', async ({ open }) => {
    const { url, page } = await open(3, { isLoaded: true })
    const pressAtOnce = (keys: string[]) =>
      page.evaluate(async (all) => {
        const wentBack = new Promise((resolve) => addEventListener('popstate', resolve, { once: true }))
        for (const key of all) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
        await wentBack
        // What follows from it is drawn by then.
        await new Promise((resolve) => setTimeout(resolve, 100))
      }, keys)
    for (const [keys, name] of [
      [['Escape', '?'], 'Keyboard shortcuts'],
      [['Escape', 'n'], 'Add note'],
      [['Escape', 'Escape', 'n'], 'Add note'],
    ] as const) {
      await openItem(page, 'note 2')
      await pressAtOnce([...keys])
      await panel(page, 'note 2').waitFor({ state: 'hidden' })
      const opened = name === 'Add note' ? panel(page, name) : dialog(page)
      await opened.waitFor()
      await closeByEscape(opened)
      await expect.poll(() => page.url()).toBe(`${url}/`)
    }
  })

  test('the console works on if the browser ignores that it should go back', async ({ open }) => {
    const { url, page } = await open(3)
    await openItem(page, 'note 2')
    await panelsLoaded(page)
    await page.evaluate(() => {
      const { go } = history
      history.go = () => {
        history.go = go
      }
    })
    await press(page, 'Escape', 'j')
    await panel(page, 'note 3').waitFor()
    await closeByEscape(panel(page))
    expect(page.url()).toBe(`${url}/`)
  })

  test('closes the requests before sign-in', async ({ open }) => {
    const { key, page } = await open(0, { session: 'none' })
    await page.getByRole('button', { name: 'Requests' }).click()
    await dialog(page).waitFor()
    await page.goBack()
    await dialog(page).waitFor({ state: 'hidden' })
    await page.getByLabel('API key').fill(key)
    await page.keyboard.press('Enter')
    await showing(page, 'No notes')
  })
})

function dialog(page: Page) {
  return page.getByRole('dialog')
}

/** Waits until the history has no entry of a closed dialog. */
function settled(page: Page): Promise<unknown> {
  return page.waitForFunction(() => !history.state?.dialogs)
}
