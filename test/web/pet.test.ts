import { describe, expect } from 'vitest'
import { addPets } from '../support/database.ts'
import { describes, inspect, isFocused, startConsole, test } from './console.ts'

describe('the details of a pet', () => {
  test('open by a link in the list, by id and by URL', async ({ visit }) => {
    const { url, key, store } = await startConsole()
    await addPets(store, 3)
    const page = await visit(url, { key })
    const dialog = page.getByRole('dialog')
    await page.getByRole('link', { name: 'pet 2' }).click()
    await dialog.getByRole('definition').getByText('pet 2').waitFor()
    await page.reload()
    await dialog.getByRole('definition').getByText('pet 2').waitFor()
    expect(await dialog.getByRole('definition').allTextContents()).toEqual(['2', 'pet 2', '1', 'available'])
    await inspect(page, 'pet')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })

    await page.getByRole('textbox', { name: 'Id of a pet' }).fill(' 3 ')
    await page.keyboard.press('Enter')
    await dialog.getByRole('definition').getByText('pet 3').waitFor()
    await page.goBack()
    await dialog.waitFor({ state: 'hidden' })
    await page.goForward()
    await dialog.waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'hidden' })
    // Closing the dialog goes back in the history instead of adding an entry to it.
    expect(page.url()).toBe(`${url}/`)
    expect(await page.evaluate(() => history.state?.isOverList)).not.toBe(true)

    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    const link = page.getByRole('link', { name: 'pet 1' })
    expect(await link.getAttribute('href')).toBe('/?pet=1')
    await Promise.all([page.context().waitForEvent('page'), link.click({ modifiers: ['Control'] })])
    expect(await dialog.count()).toBe(0)
  })

  test('report an id without a pet, and an invalid id', async ({ visit }) => {
    const { url, key } = await startConsole()
    const page = await visit(url, { key })
    await page.getByRole('textbox', { name: 'Id of a pet' }).fill('rex')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('alert').getByText('Enter an id: 1 to 19 digits.').waitFor()
    expect(await describes(page, 'Id of a pet')).toContain('Enter an id: 1 to 19 digits.')
    const field = page.getByRole('textbox', { name: 'Id of a pet' })
    expect(await isFocused(field)).toBe(true)
    await page.getByRole('textbox', { name: 'Id of a pet' }).fill('999')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('heading', { name: 'No pet has the id 999.' }).waitFor()
    await inspect(page, 'missing')
  })
})
