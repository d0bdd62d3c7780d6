import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBrowser } from '../support/browser.ts'
import type { AtEnd } from '../support/temporary.ts'
import { shareTestApi, startTestApi } from '../support/test-api.ts'

describe('the API reference in a browser', () => {
  const api = shareTestApi()
  const requested: string[] = []
  const problems: string[] = []
  const cleanings: Parameters<AtEnd>[0][] = []
  let url: string
  let page: Page

  beforeAll(async () => {
    url = await api().app.listen({ host: '127.0.0.1', port: 0 })
    page = await (await openBrowser((clean) => cleanings.push(clean))).newPage()
    page.setDefaultTimeout(20_000)
    page.on('request', (request) => void requested.push(request.url()))
    page.on('pageerror', (error) => void problems.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text())
    })
    await page.goto(`${url}/docs/`)
  }, 30_000)
  afterAll(async () => {
    for (const clean of cleanings) await clean()
  })

  test('shows every operation and sends no request to another origin', async () => {
    for (const summary of ['List all animals', 'Add an animal', 'Get an animal']) {
      await page.getByText(summary).first().waitFor()
    }
    expect(requested).toContain(`${url}/openapi.json`)
    expect(requested.filter((each) => !each.startsWith(`${url}/`) && !/^(data|blob):/.test(each))).toEqual([])
    expect(problems).toEqual([])
  })

  test('prepares a list request for pets of every status', async () => {
    const send = await openRequest(page, 'get /pets', api().key)
    const response = await send()
    expect([response.status, new URL(response.url).searchParams.toString()]).toEqual([200, 'limit=20'])
    expect(problems).toEqual([])
    await page.keyboard.press('Escape')
  })

  test('prepares a create request that adds a pet each time', async () => {
    const send = await openRequest(page, 'post /pets', api().key)
    expect([(await send()).status, (await send()).status]).toEqual([201, 201])
    expect((await api().rest.get('/v1/pets')).body).toHaveLength(2)
    expect(problems).toEqual([])
  })
})

test('every path of the API reference rejects other methods', async () => {
  const { rest } = await startTestApi()
  for (const url of ['/docs', '/docs/', '/openapi.json']) {
    const { status, headers } = await rest.send({ method: 'DELETE', url })
    expect([status, headers.allow], url).toEqual([405, 'GET, HEAD, OPTIONS'])
  }
})

/** Opens the form for an operation and enters the API key. The returned function sends the form unchanged. */
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
