import { appendFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../server/cli/program.ts'
import { composition } from '../../server/composition.ts'
import { OperatorError } from '../../server/ops/operator-error.ts'
import { databaseNameOf, openTestStore } from '../support/database.ts'
import { auditLinesIn } from '../support/log-lines.ts'
import { petstore, runCommand, runPetstore } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { checkText, exportText, importText, ndjsonOf } from '../support/transfer.ts'

describe('the check of an import', () => {
  test.for([
    ['{"name":"Rex"}', 'categoryId: required'],
    [
      '{"name":"","categoryId":"7"}',
      'name: expected 1 to 255 characters; categoryId: expected an integer, got a string',
    ],
    ['{"name":"Rex","categoryId":1.5}', 'categoryId: expected an integer, got 1.5'],
    ['{"name":"Rex","categoryId":9223372036854775808}', 'categoryId: expected a 64-bit integer, got one out of range'],
    ['{"name":"Rex","categoryId":1,"status":"lost"}', 'status: expected one of available, pending, sold, got a string'],
    ['{"name":"Rex","categoryId":1,"colour":"red","__proto__":{}}', 'unknown fields: "colour", "__proto__"'],
    ['[1]', 'expected an object, got an array'],
    ['{"name":"Rex"', 'expected a JSON object'],
    ['id,name,categoryId,status', 'expected a JSON object'],
  ])('refuses the line %s', async ([line = '', problem]) => {
    const { pets, skipped } = await checkText(
      `{"name":"Rex","categoryId":1}\n\n${line}\r\n{"name":"Rex","categoryId":1}`,
    )
    expect({ pets, skipped }).toEqual({ pets: 2, skipped: [`Skipped line 3: ${problem}`] })
  })

  test.for([
    ['Rex,,sold', 'categoryId: expected an integer, got an empty string'],
    ['Rex,+7,sold', 'categoryId: expected an integer, got a string'],
    ['Rex,9223372036854775808,sold', 'categoryId: expected a 64-bit integer, got one out of range'],
    ['Rex,7', 'expected 3 fields, got 2'],
    ['Rex,7,sold,1', 'expected 3 fields, got 4'],
    [' ,7,lost', expect.stringContaining('status: expected one of available')],
  ])('refuses the CSV record %s', async ([record = '', problem]) => {
    const text = `name,categoryId,status\r\nRex,1,\r\n\r\n${record}\r\nRex,1,sold`
    const { pets, skipped } = await checkText(text, 'csv')
    expect(pets).toBe(2)
    expect(skipped).toEqual([expect.stringMatching(/^Skipped line 4: /)])
    expect(skipped[0]?.slice('Skipped line 4: '.length)).toEqual(problem)
  })

  test.for([
    ['without a header', '', 'is empty. Begin a CSV file with the header row id,name,categoryId,status.'],
    [
      'with semicolons',
      'id;name;categoryId\n1;Rex;7\n',
      'has semicolons between its columns instead of commas. Export',
    ],
    ['with tabs', 'name\tcategoryId\n', 'has tabs between its columns instead of commas. Export'],
    [
      'with an unknown column',
      'name,colour;categoryId,x\n',
      'unknown: "colour;categoryId", "x". missing: "categoryId".',
    ],
    ['with a repeated column', 'name,name,categoryId\n', 'repeated: "name".'],
    ['with a quote inside a field', 'name,categoryId\nRex "the dog",1\n', 'is not CSV as in RFC 4180. Invalid Opening'],
    ['with a quote that is not closed', 'name,categoryId\n"Rex,1\n', 'is not CSV as in RFC 4180. Quote Not Closed'],
    ['with a long record', `name,categoryId\n"${'Rex\n'.repeat(20_000)}`, 'is not CSV as in RFC 4180. Max Record Size'],
  ])('refuses a CSV file %s', async ([, text = '', message]) => {
    await expect(checkText(text, 'csv')).rejects.toThrow(message)
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

test('a file that changes during its import is reported', async () => {
  const store = await openTestStore()
  const onChecked = (file: string) => appendFileSync(file, ndjsonOf(1))
  await expect(importText(store, ndjsonOf(3), { onChecked })).rejects.toThrow('changed while it was imported')
})

describe('petstore pets import', () => {
  test('imports nothing if a line is invalid, and the other lines with --skip-invalid', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'pets.ndjson')
    writeFileSync(file, `${ndjsonOf(2)}${'{}\n'.repeat(21)}`)
    const refused = runPetstore({ folder, arguments: ['pets', 'import', file] })
    expect(await refused.ended).toBe(1)
    const lines = refused.stderr.split('\n')
    expect(lines.at(0)).toBe(`${file} has 21 invalid lines, so nothing was imported:`)
    expect(lines.at(1)).toBe('  line 3: name: required; categoryId: required')
    expect(lines.slice(21)).toEqual([
      '  and 1 more',
      'Correct the file, or import the rest of it with --skip-invalid.',
      '',
    ])
    expect(existsSync(join(folder, 'data'))).toBe(false)
    const skipping = runPetstore({ folder, arguments: ['pets', 'import', file, '--skip-invalid'] })
    expect(await skipping.ended).toBe(0)
    expect(skipping.stdout).toBe(`${file}: 2 pets created, 0 already existed, 21 invalid lines skipped.\n`)
    const line = { action: 'pets.import', subject: databaseNameOf(folder), from: file, rows: 2 }
    expect(auditLinesIn(skipping.stderr)).toContainEqual(expect.objectContaining(line))
    expect(skipping.stderr.split('\n')).toContain('Skipped line 23: name: required; categoryId: required')
  })

  test('reads standard input with a key, leaves no temporary file, and --dry-run creates nothing', async () => {
    const folder = temporaryFolder()
    const temporary = join(folder, 'tmp')
    mkdirSync(temporary)
    writeFileSync(join(folder, 'pets.csv'), 'name,categoryId\nRex,7\n')
    const run = async (...words: string[]) => {
      const command = ['sh', '-c', 'cat pets.csv | "$@"', 'sh', ...petstore, 'pets', 'import', '-', ...words]
      const run = runCommand(command, { folder, env: { TMPDIR: temporary } })
      return [await run.ended, run.stdout || run.stderr]
    }
    expect(await run('--format', 'csv')).toEqual([
      2,
      expect.stringContaining('An import of standard input needs --key'),
    ])
    expect(await run('--format', 'csv', '--dry-run')).toEqual([
      0,
      'standard input: 1 pet can be imported, 0 invalid lines skipped. Nothing was imported.\n',
    ])
    expect(readdirSync(folder)).toEqual(['pets.csv', 'tmp'])
    const created = [0, 'standard input: 1 pet created, 0 already existed, 0 invalid lines skipped.\n']
    expect(await run('--format', 'csv', '--key', 'a')).toEqual(created)
    expect(readdirSync(temporary)).toEqual([])
  })

  test.for([
    ['missing.csv', 'no such file or directory. Check the path, its permissions and the disk.'],
    ['', 'illegal operation on a directory. Check the path, its permissions and the disk.'],
  ])('refuses to read %j', async ([file = '', message]) => {
    const folder = temporaryFolder()
    const command = createProgram(composition).parseAsync(['pets', 'import', join(folder, file)], { from: 'user' })
    await expect(command).rejects.toThrow(new OperatorError(`${join(folder, file)} cannot be read: ${message}`))
  })
})
