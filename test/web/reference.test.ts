import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openBrowser } from '../support/browser.ts'
import { startTestApi } from '../support/helpers.ts'

test('the API reference shows every operation in a browser, without one request to anywhere else', async () => {
  const { page, url, requested, problems } = await openReference()
  for (const summary of ['List all animals', 'Add an animal', 'Get an animal']) {
    await page.getByText(summary).first().waitFor()
  }

  expect(requested).toContain(`${url}/openapi.json`)
  expect(requested.filter((each) => !each.startsWith(`${url}/`) && !/^(data|blob):/.test(each))).toEqual([])
  expect(problems).toEqual([])
})

test('the list that the API reference prepares asks for pets of every status', async () => {
  const { page, key, problems } = await openReference()
  const send = await openRequest(page, 'get /pets', key)
  const { status, url } = await send()
  expect([status, new URL(url).searchParams.toString()]).toEqual([200, 'limit=20'])
  expect(problems).toEqual([])
})

test('the create that the API reference prepares adds a pet each time it is sent', async () => {
  const { page, key, rest, problems } = await openReference()
  const send = await openRequest(page, 'post /pets', key)
  expect([(await send()).status, (await send()).status]).toEqual([201, 201])
  expect((await rest.get('/v1/pets')).body).toHaveLength(2)
  expect(problems).toEqual([])
})

test('every path of the API reference refuses other methods', async () => {
  const { rest } = await startTestApi()
  for (const url of ['/docs', '/docs/', '/openapi.json']) {
    const { status, headers } = await rest.send({ method: 'DELETE', url })
    expect([status, headers.allow], url).toEqual([405, 'GET, HEAD, OPTIONS'])
  }
})

/** Opens the page of a fresh service in a browser and collects what the page requests and what goes wrong. */
async function openReference() {
  const { app, key, rest } = await startTestApi()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const page = await (await openBrowser()).newPage()
  const requested: string[] = []
  const problems: string[] = []
  page.on('request', (request) => void requested.push(request.url()))
  page.on('pageerror', (error) => void problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  await page.goto(`${url}/docs/`)
  return { page, url, key, rest, requested, problems }
}

/** Opens the form for an operation and enters the API key. The function it returns sends the form as it is. */
async function openRequest(page: Page, operation: string, key: string) {
  await page.getByRole('button', { name: `Test Request (${operation})` }).click()
  const form = page.getByRole('dialog')
  await form.getByPlaceholder('Token').fill(key)
  return async () => {
    const [response] = await Promise.all([
      page.waitForResponse((each) => each.url().includes('/v1/')),
      form
        .getByRole('button', { name: /^Send / })
        .first()
        .click(),
    ])
    return { status: response.status(), url: response.url() }
  }
}
