import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
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

test('importing every module except the programs runs nothing', () => {
  const urls = modulesOf('server', 'client', 'package', 'store', 'service')
    .filter((file) => !programs.includes(file))
    .map((file) => pathToFileURL(join(root, file)).href)
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
    { cwd: root, encoding: 'utf8', timeout: 120_000 },
  )
  expect(child.stderr).toBe('')
  expect(child.stdout).toBe('{"listeners":[],"resources":[],"subscribesToRequests":false}\n')
})
