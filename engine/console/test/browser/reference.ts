import type { Page } from 'playwright-core'

/** What tests do on the page of the API reference. */

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
