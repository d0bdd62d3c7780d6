import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { filesOf, modulesOf, patternsFor } from '../../sources.ts'
import { root } from '../support/documents.ts'

/** Programs, which run when they are started. Those of the store are threads, a probe and what is loaded before a thread. */
const programs = [
  'server/launch.mjs',
  'server/main.ts',
  'server/node-version.mjs',
  'server/dev.ts',
  'engine/store/fast-start.mjs',
  ...filesOf(patternsFor(['store'], '-{probe,thread}.ts')),
]
const modules = modulesOf('server', 'client', 'package', 'store', 'service').filter((file) => !programs.includes(file))

test('a module has only imports and declarations at its top level, unless it is a program', () => {
  expect(programs.filter((file) => statementsIn(file).length > 0)).toContain('server/main.ts')
  expect(modules.flatMap((file) => statementsIn(file).map((type) => `${file}: ${type}`))).toEqual([])
})

test('importing every module except the programs runs nothing', () => {
  const urls = modules.map((file) => pathToFileURL(join(root, file)).href)
  const code = `
    import { hasSubscribers } from 'node:diagnostics_channel'
    const listeners = () => process.eventNames().flatMap((name) => process.listeners(name).map(() => name))
    const before = listeners()
    await Promise.all(${JSON.stringify(urls)}.map((url) => import(url)))
    console.log(JSON.stringify({
      listeners: listeners().slice(before.length),
      resources: process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap'),
      subscribesToRequests: hasSubscribers('http.client.request.created'),
    }))`
  const child = spawnSync(
    process.execPath,
    ['--import', './engine/store/fast-start.mjs', '--input-type=module', '-e', code],
    {
      cwd: root,
      encoding: 'utf8',
      timeout: 120_000,
    },
  )
  expect(child.stderr).toBe('')
  expect(child.stdout).toBe('{"listeners":[],"resources":[],"subscribesToRequests":false}\n')
  expect(child.status).toBe(0)
})

test('the start loads no fetch, and without an SDK no API for traces of its own', () => {
  const code = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({
      load(url, context, next) {
        loaded.push(url)
        return next(url, context)
      },
    })
    await import('./engine/service/serve/serve.ts')
    await import('./engine/service/app.ts')
    await import('./engine/service/commands/program.ts')
    console.log(JSON.stringify({
      fetch: process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'),
      modules: loaded.some((url) => url.endsWith('/engine/service/app.ts')),
      tracing: loaded.some((url) => url.endsWith('/telemetry/tracing.ts')),
    }))`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', code], { cwd: root, encoding: 'utf8' })
  expect(child.stderr).toBe('')
  expect(child.stdout).toBe('{"fetch":false,"modules":true,"tracing":false}\n')
})

/** The kinds of the statements that are neither imports nor declarations. */
function statementsIn(file: string): string[] {
  const { body } = parseAst(readFileSync(join(root, file), 'utf8'), { lang: 'ts' })
  return body.map(({ type }) => type).filter((type) => !/^(?:Import|Export|TS|\w+Declaration$)/.test(type))
}
