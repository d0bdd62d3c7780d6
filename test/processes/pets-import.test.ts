import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createProgram } from '../../engine/service/commands/program.ts'
import { auditLinesIn, notesIn } from '../../engine/test/support/log-lines.ts'
import { runCommand } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import {
  checkText,
  commandLine,
  databaseNameOf,
  exportText,
  importText,
  ndjsonOf,
  openTestStore,
  runProgram,
  service,
} from '../support/petstore.ts'

describe('the check of an import', () => {
  const valid = '{"name":"Rex","categoryId":1}'
  /** Texts with a record after a valid one and an empty line, and before another valid one. */
  const texts = {
    ndjson: (line: string) => `${valid}\n\n${line}\r\n${valid}`,
    csv: (record: string) => `name,categoryId,status\r\nRex,1,\r\n\r\n${record}\r\nRex,1,sold`,
  }
  const rounded =
    'was rounded by a spreadsheet. Format its column as text or as a whole number there, and export it again'

  test.for<[format: keyof typeof texts, record: string, problem: string]>([
    ['ndjson', '{"name":"Rex"}', 'categoryId: required'],
    [
      'ndjson',
      '{"name":"","categoryId":"7"}',
      'name: expected 1 to 255 characters; categoryId: expected an integer, got "7"',
    ],
    ['ndjson', '{"name":"Rex","categoryId":1.5}', 'categoryId: expected an integer, got 1.5'],
    [
      'ndjson',
      '{"name":"Rex","categoryId":1,"colour":"red","__proto__":{}}',
      'Unknown fields: colour, __proto__. Remove or rename them.',
    ],
    ['ndjson', '[1]', 'This is not a JSON object.'],
    ['ndjson', '{"name":"Rex"', 'This is not a JSON object.'],
    ['csv', 'Rex,,sold', 'categoryId: required'],
    [
      'csv',
      'Rex,+7,lost',
      'categoryId: expected an integer, got "+7"; status: expected one of available, pending, sold, got "lost"',
    ],
    // A long text may be a secret.
    ['csv', `Rex,${'x'.repeat(50)},sold`, 'categoryId: expected an integer, got a string'],
    ['csv', 'Rex,9.00E+15,sold', `categoryId: expected an integer, got "9.00E+15", which ${rounded}`],
    ['csv', 'Rex,9223372036854775808,sold', 'categoryId: expected a 64-bit integer, got one out of range'],
    ['csv', 'Rex,7', '3 values are expected, not 2.'],
  ])('refuses this %s: %s', async ([format, record, problem]) => {
    const { count: pets, skipped } = await checkText(texts[format](record), format)
    expect({ pets, skipped }).toEqual({ pets: 2, skipped: [`line ${format === 'csv' ? 4 : 3}: ${problem}`] })
  })

  test.for([
    ['csv', Buffer.from(`PK\x03\x04${'\0'.repeat(900)}`), 'is a spreadsheet or a ZIP archive. Save it as CSV.'],
    ['ndjson', Buffer.from('PK\x03\x04'), 'is a spreadsheet or a ZIP archive. Save it as CSV.'],
    ['ndjson', gzipSync('{"name":"Rex","categoryId":1}\n'), 'is compressed. Decompress it.'],
    ['csv', Buffer.from('\ufeffname,categoryId\nRex,1\n', 'utf16le'), 'is not UTF-8 text. Save it as “CSV UTF-8”.'],
    ['csv', Buffer.from('name,categoryId\nRex,1\n', 'utf16le'), 'is not UTF-8 text. Save it as “CSV UTF-8”.'],
    ['csv', Buffer.from('name,categoryId\nFran\xe7ois,1\n', 'latin1'), 'is not UTF-8 text. Save it as “CSV UTF-8”.'],
    ['ndjson', `[${'{"name":"Rex","categoryId":1},\n'.repeat(180_000)}`, "for example with jq -c '.[]'."],
    ['ndjson', `[${'{"name":"Rex","categoryId":1},'.repeat(180_000)}`, "for example with jq -c '.[]'."],
    ['ndjson', '[{"name":"Rex"', 'The text is not valid JSON'],
    ['csv', '', 'is empty. Begin a CSV file with the header row id,name,categoryId,status.'],
    ['csv', `name,categoryId\n"${'Rex\n'.repeat(40_000)}`, 'The quotes do not match from line 2 on.'],
    ['csv', `${'x,'.repeat(900)}name,id\n`, 'Missing: categoryId.'],
    ['csv', `name,categoryId\n${'x'.repeat(900)}"`, 'The quotes do not match from line 2 on.'],
  ] as const)('refuses another format than %s with a short sentence', async ([format, text, message]) => {
    const error = await checkText(text, format).then(String, ({ message }: Error) => message)
    expect(error).toMatch(/^.{20,300}$/)
    expect(error).toContain(message)
  })

  test('reads a JSON array of one long line', async () => {
    const array = JSON.stringify(Array.from({ length: 3_000 }, () => ({ name: 'Rex', categoryId: 1 })))
    expect(await checkText(array.replace(':1}]', ':"1"}]'))).toMatchObject({
      count: 2_999,
      skipped: ['item 3000: categoryId: expected an integer, got "1"'],
    })
  })

  test.for(['ndjson', 'csv'] as const)('refuses a file that is not UTF-8 or has a long line, as %s', async (format) => {
    const start = format === 'csv' ? 'name,categoryId\n' : `${'{"name":"Rex","categoryId":1}\n'.repeat(4_000)}`
    const line = start.split('\n').length
    const latin1 = Buffer.from(`${start}"Fran\xe7ois"\nRex\n`, 'latin1')
    await expect(checkText(latin1, format)).rejects.toThrow(new RegExp(`^Line ${line} of .* is not UTF-8`))
    const long = `${start}${'x'.repeat(70_000)}`
    await expect(checkText(long, format)).rejects.toThrow(new RegExp(`^Line ${line} of .* is longer than 64 KiB`))
  })

  test('ignores ids, the order of columns, a byte order mark and a missing last line break', async () => {
    const store = await openTestStore()
    await importText(store, '\ufeffstatus,id,categoryId,name\n,77,9223372036854775807,"a ""quoted"" name"', {
      format: 'csv',
    })
    await importText(store, '\ufeff{"id":77,"name":"Rex","categoryId":-9223372036854775808}')
    expect(await exportText(store)).toBe(
      '{"id":1,"name":"a \\"quoted\\" name","categoryId":9223372036854775807,"status":"available"}\n' +
        '{"id":2,"name":"Rex","categoryId":-9223372036854775808,"status":"available"}\n',
    )
  })
})

describe('petstore pets import', () => {
  test('detects the format, and refuses columns that are no field', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'pets.txt'), 'Name\tCategory\tStatus\nRex\t7\tSold\n')
    const run = runProgram({ folder, arguments: ['pets', 'import', 'pets.txt'] })
    expect([await run.ended, run.stdout]).toEqual([0, expect.stringContaining('1 pet created')])
    writeFileSync(join(folder, 'pets.csv'), 'name,categoryId,statsu\nRex,7,sold\n')
    const misspelled = runProgram({ folder, arguments: ['pets', 'import', 'pets.csv'] })
    expect([await misspelled.ended, misspelled.stdout]).toEqual([1, ''])
    expect(misspelled.stderr).toContain('The column statsu is not used. Correct its name, or remove it.')
    // It has created nothing.
    expect(misspelled.stderr).not.toContain('Run the command again')
  })

  test('stops at an invalid line, and completes the import when that line is corrected or skipped', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'pets.ndjson')
    const run = async (...words: string[]) => {
      const run = runProgram({ folder, arguments: ['pets', 'import', 'pets.ndjson', ...words] })
      return { run, code: await run.ended, notes: notesIn(run.stderr) }
    }
    const [first, second] = [ndjsonOf(2), '{"name":"Minka","categoryId":1}\n']
    writeFileSync(file, `${first}{}\n${second}`)
    const refused = await run()
    expect([refused.code, refused.run.stdout]).toEqual([1, ''])
    expect(refused.notes).toContain(
      '\nLine 3 of pets.ndjson is invalid: name: required; categoryId: required. Correct it, or skip invalid lines with --skip-invalid. 2 pets created, 0 already imported. Run the command again within 24 hours: it creates no pet twice.\n',
    )
    const skipping = await run('--skip-invalid')
    expect([skipping.code, skipping.notes]).toEqual([0, 'Skipped line 3: name: required; categoryId: required\n'])
    expect(skipping.run.stdout).toBe('pets.ndjson: 1 pet created, 2 already imported, 1 invalid line skipped.\n')
    const line = { action: 'pets.import', subject: databaseNameOf(folder), from: 'pets.ndjson', rows: 1 }
    expect(auditLinesIn(skipping.run.stderr)).toContainEqual(expect.objectContaining(line))
    writeFileSync(file, `${first}{"name":"Rex","categoryId":1}\n${second}`)
    const corrected = await run()
    expect([corrected.code, corrected.run.stdout]).toEqual([
      0,
      'pets.ndjson: 1 pet created, 3 already imported, 0 invalid lines skipped.\n',
    ])
  })

  test('reads standard input only with a key', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'pets.csv'), 'name,categoryId\nRex,7\n')
    const run = async (...words: string[]) => {
      const command = ['sh', '-c', 'cat pets.csv | "$@"', 'sh', ...commandLine, 'pets', 'import', '-', ...words]
      const run = runCommand(command, { folder })
      return [await run.ended, run.stdout || run.stderr]
    }
    for (const key of [[], ['--key', '']])
      expect(await run('--format', 'csv', ...key)).toEqual([
        2,
        expect.stringContaining('An import of standard input needs --key'),
      ])
    const words = ['sh', '-c', '"$@" < pets.csv', 'sh', ...commandLine, 'pets', 'import', '/dev/stdin']
    const redirect = runCommand([...words, '--format', 'csv'], { folder })
    expect([await redirect.ended, redirect.stdout || redirect.stderr]).toEqual([
      2,
      expect.stringContaining('An import of /dev/stdin needs --key'),
    ])
    expect(readdirSync(folder)).toEqual(['pets.csv'])
    const result = (created: string, existing: number) =>
      `standard input: ${created} created, ${existing} already imported, 0 invalid lines skipped.\n`
    expect(await run('--format', 'csv', '--key', 'a')).toEqual([0, result('1 pet', 0)])
    expect(await run('--format', 'csv', '--key', 'a')).toEqual([0, result('0 pets', 1)])
    expect(await run('--format', 'csv', '--key', 'b')).toEqual([0, result('1 pet', 0)])
  })

  test.for([
    ['missing.csv', 'cannot be read: no such file or directory. Check the path, its permissions and the disk.'],
    ['', 'is a folder. Give the path of a file.'],
  ])('refuses to read %j, and creates no database', async ([file = '', message]) => {
    const folder = temporaryFolder()
    vi.stubEnv('DATABASE_URL', `file:${join(folder, 'petstore.db')}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const command = createProgram(service).parseAsync(['pets', 'import', join(folder, file)], { from: 'user' })
    await expect(command).rejects.toThrow(`${join(folder, file)} ${message}`)
    expect(readdirSync(folder)).toEqual([])
  })
})
