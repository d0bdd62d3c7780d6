import { consoleTest, type Locator, listen, type Page } from '../../engine/console/test/browser/visit.ts'
import { consoleFolder } from '../support/built-console.ts'
import { startTestApi, type TestApi } from '../support/petstore.ts'

/** Users stay signed in across releases. */
export const storageKey = 'petstore-api-key'

export const test = consoleTest(storageKey)

export interface Console extends TestApi {
  url: string
}

export async function startConsole(options: Parameters<typeof startTestApi>[0] = {}): Promise<Console> {
  const api = await startTestApi({ ...options, consoleFolder })
  return { ...api, url: await listen(api.app) }
}

/** Opens the form for a new pet and fills it in. */
export async function enterPet(page: Page, name: string, category: string): Promise<void> {
  await addButton(page).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('textbox', { name: 'Category' }).fill(category)
}

/** The button that opens the form for a new pet. */
export function addButton(page: Page): Locator {
  return page.locator('.tools').getByRole('button', { name: 'Add pet' })
}

/** The button that submits the form for a new pet. */
export function submitButton(page: Page): Locator {
  return page.locator('form').getByRole('button', { name: /^(Add pet|Try again)$/ })
}

/** Opens the sheet that adds many pets. */
export async function openBulkAdd(page: Page): Promise<Locator> {
  await page.locator('.tools').getByRole('button', { name: 'Add many' }).click()
  const sheet = page.getByRole('dialog', { name: 'Add many pets' })
  await sheet.waitFor()
  return sheet
}

export function searchField(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Search pets' })
}

/** Lets the API reference use the key of the console. */
export function takeKeyOfConsole(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Use the key of the console' }).click()
}

/** Opens the form of the API reference for an operation and enters the API key, if there is one. The returned function sends the form. */
export async function openRequest(page: Page, operation: string, key?: string) {
  await page.getByRole('button', { name: `Test Request (${operation})` }).click()
  const form = page.getByRole('dialog')
  if (key !== undefined) await form.getByPlaceholder('Token').fill(key)
  return async () => {
    const [response] = await Promise.all([
      page.waitForResponse((each) => each.url().includes('/v1/')),
      form
        .getByRole('button', { name: /^Send / })
        .first()
        .click(),
    ])
    // Another request while Scalar reads the response would cancel it.
    const text = await response.text()
    await form
      .getByText(text.match(/"\w+"/)?.[0] ?? text)
      .first()
      .waitFor()
    return { status: response.status(), url: response.url() }
  }
}
