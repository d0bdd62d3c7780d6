import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createProgram } from '../../engine/service/commands/program.ts'
import { commandsOf } from '../../engine/test/support/commands.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { document, rowsOf } from '../support/documents.ts'
import { runProgram, service, startServer } from '../support/petstore.ts'

/** The fields of each command in the table of the reference. */
const documented = new Map(
  rowsOf(document('docs/reference/cli.md')).flatMap(([usage = '', , shape = '']) => {
    const [, isList, fields] = /^`(\[?)\{ ([^}]+) \}/.exec(shape) ?? []
    return fields === undefined
      ? []
      : [
          [
            usage.replaceAll('`', '').replace(/ (?:\[|<|--).*/, ''),
            { isList: isList === '[', fields: fields.split(', ') },
          ],
        ]
  }),
)

/** In an order in which each finds what it needs. */
const calls = [
  ...['db migrate', 'keys create shop', 'keys generate', 'keys list', 'keys rotate shop --expires 90d'],
  ...['keys revoke shop', 'pets import pets.ndjson', 'pets export all.ndjson', 'db status'],
  ...['db copy --from file:data/petstore.db --to file:other.db', 'backup copy.db', 'backup verify copy.db'],
  ...['restore copy.db', 'doctor'],
]

test('every command that prints a result has --json and a documented shape', () => {
  const commands = commandsOf(createProgram(service)).filter(
    ({ words }) => !['serve', 'openapi'].includes(words.join(' ')),
  )
  expect(commands.length).toBeGreaterThan(10)
  const withJson = commands.filter(({ command }) => command.options.some(({ long }) => long === '--json'))
  expect(withJson).toEqual(commands)
  expect([...documented.keys()].sort()).toEqual(commands.map(({ words }) => words.join(' ')).sort())
})

test('the JSON of each command has the documented fields, and nothing else is on standard output', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'pets.ndjson'), '{"name":"Rex","categoryId":1}\n')
  for (const call of calls) {
    const run = runProgram({ folder, arguments: [...call.split(' '), '--json'] })
    expect(await run.ended, `${call}\n${run.stderr}`).toBe(0)
    expectDocumented(call, run.stdout)
  }
  const server = await startServer({ folder })
  const ask = () => runProgram({ arguments: ['healthcheck', '--json'], env: { PORT: new URL(server.url).port } })
  let check = ask()
  // On a busy machine, the service may not respond in time.
  while ((await check.ended) !== 0) check = ask()
  expectDocumented('healthcheck', check.stdout)
  expect([...calls, 'healthcheck'].map((call) => documentedCommand(call)).sort()).toEqual([...documented.keys()].sort())
})

/** The longest documented command with which the call begins. */
function documentedCommand(call: string): string {
  const names = [...documented.keys()].filter((name) => `${call} `.startsWith(`${name} `))
  return names.toSorted((a, b) => b.length - a.length)[0] ?? ''
}

function expectDocumented(call: string, output: string): void {
  const shape = documented.get(documentedCommand(call))
  const value: unknown = JSON.parse(output)
  expect(Array.isArray(value), call).toBe(shape?.isList)
  const items = [value].flat()
  expect(items.length, call).toBeGreaterThan(0)
  for (const item of items) expect(Object.keys(Object(item)).sort(), call).toEqual(shape?.fields.toSorted())
}
