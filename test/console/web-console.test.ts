import { cpSync, globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { securityHeaders } from '../../engine/service/http/response-headers.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { consoleFolder } from '../support/built-console.ts'
import { shareTestApi, startTestApi } from '../support/petstore.ts'

describe('the console', () => {
  const api = shareTestApi({ consoleFolder })

  async function get(url: string, headers: Record<string, string> = {}) {
    return api().app.inject({ url, headers })
  }

  async function assets(): Promise<string[]> {
    const { body } = await get('/')
    return [...body.matchAll(/"\.(\/assets\/[^"]+)"/g)].map(([, url]) => String(url))
  }

  test('is one page whose policy allows its own files and no inline code', async () => {
    const { statusCode, headers, body } = await get('/')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(String(headers['content-security-policy']).split('; ').toSorted()).toEqual([
      "base-uri 'self'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
    ])
    expect(body).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|\sstyle=/)
    for (const [name, value] of Object.entries(securityHeaders(undefined))) {
      if (!['cache-control', 'content-security-policy'].includes(name)) expect(headers[name]).toBe(value)
    }
  })

  test('is revalidated on each visit, and its hashed files are cached for a year', async () => {
    const { headers } = await get('/')
    expect(headers['cache-control']).toBe('no-cache')
    expect((await get('/', { 'if-none-match': String(headers.etag) })).statusCode).toBe(304)
    expect((await get('/favicon.svg')).headers['cache-control']).toBe('no-cache')
    expect(await assets()).toContainEqual(expect.stringMatching(/\.css$/))
    for (const url of await assets()) {
      expect((await get(url)).headers['cache-control']).toBe('max-age=31536000, immutable')
    }
  })

  test('does not serve files outside of the build', async () => {
    const [asset] = await assets()
    for (const url of [
      ...['/index.html', '/.digest', '/assets', '/assets/', '/assets/other.js'],
      ...['/assets/..%2f.digest', '/assets/../.digest', '/..%2fbuild.ts', '/%2e%2e/build.ts', `/${asset}`],
    ]) {
      const { statusCode, headers } = await get(url)
      expect([statusCode, headers['content-type']], url).toEqual([404, 'application/json; charset=utf-8'])
    }
  })
})

test('every variable in the style sheets is defined in them', () => {
  const styles = globSync('assets/*.css', { cwd: consoleFolder }).map((path) =>
    readFileSync(join(consoleFolder, path), 'utf8'),
  )
  const all = styles.join('')
  const defined = new Set([...all.matchAll(/[{;](--[\w-]+):/g)].map(([, name]) => name))
  const used = [...all.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name)
  expect(used.length).toBeGreaterThan(100)
  expect(used.filter((name) => !defined.has(name))).toEqual([])
})

test('a running service keeps serving the console after its folder is deleted', async () => {
  const folder = join(temporaryFolder(), 'assets/dist')
  cpSync(consoleFolder, folder, { recursive: true })
  const { app } = await startTestApi({ consoleFolder: folder })
  rmSync(folder, { recursive: true })
  const { body, headers } = await app.inject('/')
  expect(headers['cache-control']).toBe('no-cache')
  for (const [, url] of body.matchAll(/"\.(\/[^"]+)"/g)) expect((await app.inject(String(url))).statusCode).toBe(200)
})
