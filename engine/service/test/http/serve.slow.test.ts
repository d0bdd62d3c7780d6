import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prepareSqlite } from '../../../test/notes/database.ts'
import { product, readConfig, startServer } from '../../../test/notes/fixtures.ts'
import { service } from '../../../test/notes/service.ts'
import { logLinesIn } from '../../../test/support/log-lines.ts'
import { openFilesOf, waitForOutput } from '../../../test/support/process.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { serve } from '../../serve/serve.ts'

// Only Linux lists them.
if (existsSync('/proc/self/fd')) {
  test('a start that fails while the application is created closes the database and the dependencies', async () => {
    const folder = temporaryFolder()
    const database = join(folder, 'notes.db')
    const printed = join(folder, 'printed')
    const env = { PORT: '0', DATABASE_URL: `file:${database}`, LOG_LEVEL: 'silent', PRINTER_FILE: printed }
    const config = readConfig(env)
    prepareSqlite(database)
    await expect(serve({ ...config, publicUrl: 'no URL' }, service)).rejects.toThrow('Invalid URL')
    expect(openFilesOf('self').filter((path) => path.startsWith(folder))).toEqual([])
    expect(existsSync(printed)).toBe(true)
  })
}

test('the service logs its address and version when it listens', async () => {
  const { stdout, url } = await startServer()
  const messages = logLinesIn(stdout).map(({ msg }) => msg)
  expect(messages).toContain(`listening at ${url} (notes ${product.version})`)
})

test('on all addresses of the machine, the curl line names one that works', async () => {
  const server = await startServer({ env: { HOST: '0.0.0.0' } })
  const line = await waitForOutput(server, /"curl":"([^"]+)"/)
  const [, key, url] = /Bearer (\w+)' (\S+)$/.exec(line) ?? []
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/team\/all-books$/)
  expect((await fetch(String(url), { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
})
