import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockedDependencies } from '../../deploy/package/locked-dependencies.ts'
import { read, root } from '../support/documents.ts'

const manifest = JSON.parse(read('package.json'))
const tree = Object.entries(lockedDependencies())

test('the service has exact versions of its dependencies, and a range where npm shares one copy with an SDK', () => {
  const versions = Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies })
  const ranges = versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(String(version)))
  expect(ranges).toEqual([['@opentelemetry/api', '^1.9.0']])
})

test('no dependency of the service runs a script when it is installed', () => {
  const scripted = tree.flatMap(([path]) => {
    const file = join(root, path, 'package.json')
    // Optional dependencies of other systems are not installed.
    if (!existsSync(file)) return []
    const { scripts = {}, gypfile } = JSON.parse(read(`${path}/package.json`))
    const names = ['preinstall', 'install', 'postinstall'].filter((name) => name in scripts)
    // npm compiles a package that has this file and no script of its own.
    if (gypfile !== false && existsSync(join(root, path, 'binding.gyp'))) names.push('binding.gyp')
    return names.map((name) => `${path}: ${name}`)
  })
  expect(tree.length).toBeGreaterThan(100)
  expect(scripted).toEqual([])
})

test('every dependency of the service has a license that permits its use in any software', () => {
  const permissive = new Set([
    '0BSD',
    'Apache-2.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'BlueOak-1.0.0',
    'CC0-1.0',
    'ISC',
    'MIT',
  ])
  const others = tree.filter(
    ([, { license = '' }]) =>
      !license
        .replaceAll(/[()]/g, '')
        .split(' OR ')
        .some((each) => permissive.has(each)),
  )
  expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([])
})

test('npm does not install the Node of glibc on Linux with musl, where it would shadow that of the system', () => {
  const { packages }: { packages: Record<string, { libc?: string[] }> } = JSON.parse(read('package-lock.json'))
  const nodes = Object.entries(packages).filter(([path]) => path.startsWith('node_modules/node-linux-'))
  expect(nodes.map(([, { libc }]) => libc)).toEqual([['glibc'], ['glibc']])
})
