import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Page, chromium as playwright } from 'playwright-core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startTestApi } from './helpers.ts'

test('the API reference shows every operation in a browser, without one request to anywhere else', async () => {
  const { app } = await startTestApi()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const page = await openPage()
  const requested: string[] = []
  const problems: string[] = []
  page.on('request', (request) => void requested.push(request.url()))
  page.on('pageerror', (error) => void problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })

  await page.goto(url)
  for (const summary of ['List all animals', 'Add an animal', 'Get an animal']) {
    await page.getByText(summary).first().waitFor()
  }

  expect(new URL(page.url()).pathname).toBe('/docs/')
  expect(requested).toContain(`${url}/openapi.json`)
  expect(requested.filter((each) => !each.startsWith(`${url}/`) && !/^(data|blob):/.test(each))).toEqual([])
  expect(problems).toEqual([])
})

async function openPage(): Promise<Page> {
  // The browser unpacks itself, once, into the folder for temporary files.
  const folder = join(import.meta.dirname, '../node_modules/.cache/chromium')
  mkdirSync(folder, { recursive: true })
  vi.stubEnv('TMPDIR', folder)
  const { default: chromium } = await import('@sparticuz/chromium')
  const executablePath = await chromium.executablePath()
  const browser = await playwright.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  onTestFinished(async () => {
    await browser.close()
    vi.unstubAllEnvs()
  })
  return browser.newPage()
}
