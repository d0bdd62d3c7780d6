import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createFirstKey,
  mintApiKey,
  product,
  readConfig,
  runProgram,
  runToEnd,
  variableNames,
} from '../../../test/notes/fixtures.ts'
import { temporaryFolder } from '../../../test/support/temporary.ts'
import { configurationOf } from '../../config.ts'

test('without any variable the configuration has its defaults', () => {
  expect(readConfig({})).toEqual({
    host: '127.0.0.1',
    port: 3000,
    adminHost: '127.0.0.1',
    reusePort: false,
    database: { kind: 'sqlite', path: resolve('data/notes.db') },
    databaseConnections: 10,
    logLevel: 'info',
    corsOrigins: [],
    trustProxy: [],
    historyDays: 400,
    backupKeep: 7,
    productSettings: { printerFile: '/dev/null' },
  })
})

/** Valid values of all variables, except for the file with the API key. */
function everyVariable(key: string) {
  return {
    HOST: '0.0.0.0',
    PORT: '8080',
    ADMIN_HOST: '::1',
    ADMIN_PORT: '9464',
    REUSE_PORT: 'true',
    DATABASE_URL: 'file:///var/lib/note%20store/notes.db',
    DATABASE_CONNECTIONS: '20',
    PUBLIC_URL: 'https://notes.example/',
    STAGING_URL: 'https://staging.example',
    LOG_LEVEL: 'debug',
    LOG_FORMAT: 'pretty',
    CORS_ORIGINS: 'https://a.example, https://b.example:8443, capacitor://localhost, chrome-extension://abcdef',
    TRUST_PROXY: '10.0.0.0/8,::1',
    RATE_LIMIT: '1000/min',
    HISTORY_DAYS: '0',
    NOTES_API_KEY: key,
    BACKUP_EVERY: '6h',
    BACKUP_KEEP: '30',
    PRINTER_FILE: '/dev/printer',
  }
}

test('every variable is read', () => {
  const key = mintApiKey()
  const env = everyVariable(key)
  expect([...Object.keys(env), 'NOTES_API_KEY_FILE'].toSorted()).toEqual(variableNames.toSorted())
  for (const [name, value] of Object.entries(env))
    expect(readConfig({ [name]: value }), name).not.toEqual(readConfig({}))
  expect(readConfig(env)).toMatchObject({
    adminHost: '::1',
    database: { kind: 'sqlite', path: '/var/lib/note store/notes.db' },
    corsOrigins: ['https://a.example', 'https://b.example:8443', 'capacitor://localhost', 'chrome-extension://abcdef'],
    trustProxy: ['10.0.0.0/8', '::1'],
    rateLimit: { requests: 1_000, seconds: 60 },
    apiKey: key,
    backupEvery: 6 * 3_600_000,
  })
})

test.for(['postgres', 'postgresql'])('a database may have a URL that begins with %s://', (scheme) => {
  const url = `${scheme}://notes:a,b@db.example:5433/notes?sslmode=require`
  expect(readConfig({ DATABASE_URL: url }).database).toEqual({ kind: 'postgres', url })
  expect(() => readConfig({ DATABASE_URL: url, BACKUP_EVERY: '1d' })).toThrow(/^The .*\n {2}BACKUP_EVERY: expected .+$/)
})

test('an empty variable counts as not set', () => {
  expect(readConfig({ PORT: '', PUBLIC_URL: '', CORS_ORIGINS: '', NOTES_API_KEY: '' })).toEqual(readConfig({}))
})

test.for(['\n', '\r\n', ' ', '\t', '\u00a0'])(
  'white space %j around a value is removed from every variable',
  (space) => {
    const key = mintApiKey()
    const file = join(temporaryFolder(), 'key')
    writeFileSync(file, `${key}\n`)
    const env = { ...everyVariable(key), DATABASE_URL: 'file:data/notes.db' }
    const values = [env, { NOTES_API_KEY_FILE: file }, { DATABASE_URL: 'postgres://db.example/notes' }]
    for (const exact of values) {
      const spaced = Object.fromEntries(Object.entries(exact).map(([name, value]) => [name, space + value + space]))
      expect(readConfig(spaced)).toEqual(readConfig(exact))
    }
    expect(readConfig({ PORT: space })).toEqual(readConfig({}))
  },
)

test.for(Object.entries(everyVariable(mintApiKey())))(
  'a control character inside %s is refused with one message',
  ([name, value]) => {
    for (const character of ['\n', '\t', '\0', '\u007f', '\u0085']) {
      const env = { [name]: `${value.slice(0, 1)}${character}${value.slice(1)}x` }
      expect(() => readConfig(env)).toThrow(
        `The configuration is wrong:\n  ${name}: expected no control characters, such as line breaks`,
      )
    }
  },
)

test.for(['file:///data/notes.db%20', 'file:///data/note%0Astore.db', 'file: data/notes.db', 'file: '])(
  'the path in DATABASE_URL=%s is refused, because SQLite would open another file than the checks do',
  (url) => {
    expect(() => readConfig({ DATABASE_URL: url })).toThrow(
      /^The configuration is wrong:\n {2}DATABASE_URL: expected .*/,
    )
  },
)

test.for([
  ['https://notes.example', 'https://notes.example'],
  ['https://notes.example/', 'https://notes.example'],
  ['https://notes.example//', 'https://notes.example'],
  ['HTTP://Notes.Example:80', 'http://notes.example'],
  ['https://notes.example:8443/shop', 'https://notes.example:8443/shop'],
  ['https://notes.example/shop//', 'https://notes.example/shop'],
  ['https://notes.example//shop///notes/', 'https://notes.example/shop/notes'],
  ['https://notes.example/a/../shop', 'https://notes.example/shop'],
  ['https://notes.example/v1/shop', 'https://notes.example/v1/shop'],
] as const)('a public address %s means %s', ([text, url]) => {
  const { publicUrl, stagingUrl } = readConfig({ PUBLIC_URL: text, STAGING_URL: text })
  expect([publicUrl, stagingUrl]).toEqual([url, url])
})

const invalid: Record<string, string> = {
  PORT: '65536 -1 http 80.5',
  REUSE_PORT: 'maybe',
  DATABASE_URL:
    'mysql://localhost data/notes.db profile:notes.db file: file::memory: file:a.db?mode=ro file://host/a.db file:///%zz postgres://host:port/notes file:~/p.db file:a#b',
  DATABASE_CONNECTIONS: '0 many',
  HISTORY_DAYS: '-1 10000 1y',
  PUBLIC_URL:
    'notes.example https://notes.example/v1 https://notes.example/v1/ https://notes.example//v1// https://notes.example/shop?a=1 https://notes.example/shop#notes https://shop@notes.example https://shop:secret@notes.example https://*.shop.example',
  STAGING_URL: 'https://notes.example?a=1 ftp://notes.example https://*.shop.example',
  LOG_LEVEL: 'loud',
  LOG_FORMAT: 'xml',
  CORS_ORIGINS: '* https://*.shop.example https://a.example/ *,null file:///etc capacitor://localhost/',
  TRUST_PROXY: 'true 10.0.0.0/33 0.0.0.0/0 10.0.0.0/8,::/0',
  RATE_LIMIT: '1000 0/s 10/day 10/mins -10/s',
  NOTES_API_KEY: 'secret',
  NOTES_API_KEY_FILE: 'no/such/file',
  BACKUP_EVERY: 'daily 0h',
  HOST: 'a,b [::1',
  ADMIN_HOST: 'http://localhost',
  BACKUP_KEEP: '0 all',
}
const cases = Object.entries(invalid).flatMap(([name, values]) =>
  values.split(' ').map((value) => [name, value] as const),
)

test.for(cases)('%s=%s is refused with a message that names the variable', ([name, value]) => {
  expect(() => readConfig({ [name]: value })).toThrow(
    new RegExp(`^The configuration is wrong:\n {2}${name}: expected .+$`),
  )
})

test.for(['one,two', 'notes:secret@one:5432,two:5432', 'notes@[::1],two:port'])(
  'a PostgreSQL URL with several hosts (%s) is refused with one sentence that says what to use',
  (hosts) => {
    const env = { DATABASE_URL: `postgres://${hosts}/notes?target_session_attrs=read-write` }
    expect(() => readConfig(env)).toThrow(
      /^The configuration is wrong:\n {2}DATABASE_URL: expected one host, the address of the cluster: that of HAProxy, [^\n]+$/,
    )
  },
)

test('an IPv6 address may be in brackets, as in a URL, and the port the highest one', () => {
  const env = { HOST: '[::1]', ADMIN_HOST: 'localhost', PORT: '65535' }
  expect(readConfig(env)).toMatchObject({ host: '::1', adminHost: 'localhost', port: 65_535 })
})

test('one message lists every problem', () => {
  expect(() => readConfig({ PORT: 'x', LOG_LEVEL: 'y', NOTES_API_KEY: 'z' })).toThrow(
    /PORT: .*\n.*LOG_LEVEL: .*\n.*NOTES_API_KEY: /,
  )
})

test('no message repeats the value of a key', () => {
  expect(() => readConfig({ NOTES_API_KEY: 'note_almost' })).not.toThrow('note_almost')
})

describe('NOTES_API_KEY_FILE', () => {
  test('is refused with the path and the cause', () => {
    const folder = temporaryFolder()
    const [path, large, pipe] = ['key', 'large', 'pipe'].map((name) => join(folder, name)) as [string, string, string]
    writeFileSync(path, 'note_almost')
    writeFileSync(large, `${mintApiKey()}${' '.repeat(1_024)}`)
    spawnSync('mkfifo', [pipe])
    const faults = [
      [join(folder, 'none'), 'cannot be read: no such file or directory'],
      [join(path, 'key'), 'cannot be read: not a directory'],
      [path, 'contains something else'],
      [large, 'contains something else'],
      [folder, 'is a folder, a pipe or a device'],
      [pipe, 'is a folder, a pipe or a device'],
      ['/dev/null', 'is a folder, a pipe or a device'],
    ] as const
    for (const [given, cause] of faults) {
      expect(() => readConfig({ NOTES_API_KEY_FILE: given })).toThrow(
        `NOTES_API_KEY_FILE: expected a file with an API key that "notes keys generate" printed, and ${given} ${cause}`,
      )
    }
    expect(() => readConfig({ NOTES_API_KEY_FILE: path })).not.toThrow('note_almost')
  })

  test('names a file that contains the key, and cannot be combined with NOTES_API_KEY', () => {
    const key = mintApiKey()
    const path = join(temporaryFolder(), 'key')
    writeFileSync(path, `${key}\n`)
    expect(readConfig({ NOTES_API_KEY_FILE: path }).apiKey).toBe(key)
    expect(() => readConfig({ NOTES_API_KEY: key, NOTES_API_KEY_FILE: path })).toThrow('only one of them')
  })
})

test('settings that contradict each other are reported beside one that is wrong itself', () => {
  const onPostgres = { DATABASE_URL: 'postgres://localhost/notes', BACKUP_EVERY: '6h' }
  expect(() => readConfig({ ...onPostgres, PORT: 'x', ADMIN_PORT: '0' })).toThrow(
    /PORT: .*BACKUP_EVERY: expected only/s,
  )
  expect(() => readConfig({ PORT: '80', ADMIN_PORT: '80', LOG_LEVEL: 'x' })).toThrow(
    /LOG_LEVEL: .*ADMIN_PORT: expected/s,
  )
})

test.for(['keys list', 'db status', 'openapi', 'backup copy.db'])(
  '%s needs no setting of the product',
  async (words) => {
    const folder = temporaryFolder()
    await createFirstKey(folder)
    const env = { PRINTER_FILE: 'printer' }
    await runToEnd({ folder, env, arguments: words.split(' ') })
    const start = runProgram({ folder, env })
    expect([await start.ended, start.stderr]).toEqual([
      1,
      expect.stringContaining('PRINTER_FILE: expected an absolute path'),
    ])
  },
)

test('doctor names every variable that is wrong, and sets the exit code', async () => {
  const [valid, wrong] = [{}, { PORT: 'x', LOG_LEVEL: 'y' }].map((env) => runProgram({ env, arguments: ['doctor'] }))
  expect([await valid?.ended, valid?.stderr]).toEqual([0, ''])
  expect(valid?.stdout).toMatch(/^ok +configuration +The configuration is valid\.$/m)
  expect([await wrong?.ended, wrong?.stderr]).toEqual([1, ''])
  expect(wrong?.stdout).toMatch(/^failure +configuration +The configuration is wrong: PORT: .*; LOG_LEVEL: .*$/m)
})

test('a product reads settings of its own, which the help describes', () => {
  const mailServer = z.string().describe('the server that sends mail')
  const { settings, ...own } = configurationOf(product, z.object({ mailServer }))
  expect(own.readConfig({ MAIL_SERVER: ' mail.example ' })).toMatchObject({
    port: 3000,
    productSettings: { mailServer: 'mail.example' },
  })
  expect(() => own.readConfig({ PORT: 'x' })).toThrow(
    /PORT: expected a port .*\n {2}MAIL_SERVER: not set; give it a value: the server that sends mail$/,
  )
  expect(own.readForCommand().productSettings).toEqual({})
  expect(() => own.readConfig({ MAIL_SERVER: 'a\u0000' })).toThrow('MAIL_SERVER: expected no control characters')
  const last = String(settings.at(-1))
  expect([own.variableOf(last), own.describe(last)]).toEqual(['MAIL_SERVER', 'the server that sends mail'])
  const undescribed = configurationOf(product, z.object({ mailPort: z.string().default('25') }))
  expect(undescribed.describe('mailPort')).toBe('a setting of the product (default: 25)')
  const taken = z.object({ port: z.string() })
  expect(() => configurationOf(product, taken)).toThrow('Every service has the setting port.')
})
