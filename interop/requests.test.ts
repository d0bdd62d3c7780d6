import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runPrograms, writePrograms } from '../test/support/api-calls.ts'
import { listen } from '../test/support/raw-http.ts'
import { temporaryFolder } from '../test/support/temporary.ts'
import { generatedClientSetup, generatedClientText } from '../web/requests/texts.ts'

const run = promisify(execFile)
const modules = join(import.meta.dirname, 'node_modules')
const { devDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'))

test("the console's text for a generated client compiles, and creates, gets and lists pets exactly", async () => {
  const api = await listen()
  const project = temporaryFolder()
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  symlinkSync(modules, join(project, 'node_modules'))
  await setUp(project, generatedClientSetup(api))
  writePrograms(project, api, generatedClientText)
  await compile(project)
  await runPrograms(project, api)
})

/** Runs the commands of the text, but for the first one. The dependencies of this folder contain what it installs. */
async function setUp(project: string, text: string): Promise<void> {
  const [install, ...commands] = text.split('\n\n')
  const packages = ['@hey-api/openapi-ts', 'typescript'].map((name) => `${name}@${devDependencies[name]}`)
  expect(install).toBe(`npm install --save-dev ${packages.join(' ')}`)
  await run('sh', ['-ec', commands.join('\n\n')], { cwd: project })
}

async function compile(project: string): Promise<void> {
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [join(import.meta.dirname, '../node_modules/@types')],
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', 'petstore'] }))
  const { stdout } = await run(join(modules, '.bin/tsc'), ['-p', project]).catch((error) => error)
  expect(stdout).toBe('')
}
