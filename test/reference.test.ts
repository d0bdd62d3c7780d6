import { expect, test } from 'vitest'
import { openBrowser } from './browser.ts'
import { startTestApi } from './helpers.ts'

test('the API reference shows every operation in a browser, without one request to anywhere else', async () => {
  const { app } = await startTestApi()
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
  for (const summary of ['List all animals', 'Add an animal', 'Get an animal']) {
    await page.getByText(summary).first().waitFor()
  }

  expect(requested).toContain(`${url}/openapi.json`)
  expect(requested.filter((each) => !each.startsWith(`${url}/`) && !/^(data|blob):/.test(each))).toEqual([])
  expect(problems).toEqual([])
})
