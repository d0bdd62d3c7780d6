import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { read } from '../support/documents.ts'
import { readConfig } from '../support/petstore.ts'

/** Milliseconds to save a large database that was deleted. */
const rescueTime = 300_000
const unit = read('deploy/petstore.service')
const settings = Map.groupBy(
  [...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => ({ name, value })),
  ({ name }) => name,
)

function setting(name: string): string | undefined {
  return settings
    .get(name)
    ?.map(({ value }) => value)
    .join('\n')
}

test('the unit runs the installed command on the database in the only folder that is writable', () => {
  expect(read('docs/guides/deployment.md')).toContain(
    'ln --symbolic --no-dereference --force /opt/petstore-2.0.0 /opt/petstore\n',
  )
  expect(setting('ExecStart')).toBe('/opt/petstore/node_modules/.bin/petstore')
  const folder = `/var/lib/${setting('StateDirectory')}`
  expect(setting('WorkingDirectory')).toBe(folder)
  expect(setting('ProtectSystem')).toBe('strict')
  const [name = '', value] = setting('Environment')?.split('=') ?? []
  expect(readConfig({ [name]: value }).database).toEqual({ kind: 'sqlite', path: `${folder}/petstore.db` })
  expect(setting('ReadWritePaths')).toBeUndefined()
})

test('the service may save a deleted database before it is killed, and starts again after a failure', () => {
  expect(Number(setting('TimeoutStopSec')) * 1_000).toBeGreaterThanOrEqual(rescueTime)
  expect(read('deploy/compose.yaml')).toContain(`stop_grace_period: ${rescueTime / 1_000}s\n`)
  expect(setting('KillMode')).toBe('mixed')
  expect(setting('Restart')).toBe('on-failure')
  expect(setting('RestartPreventExitStatus')).toBe('66')
  expect(setting('StartLimitIntervalSec')).toBe('0')
})

test('the backups have the database, the user and the folder of the service', () => {
  const backup = read('deploy/petstore-backup.service')
  for (const name of ['User', 'Environment', 'EnvironmentFile', 'StateDirectoryMode', 'UMask'])
    expect(backup).toContain(`\n${name}=${setting(name)}\n`)
  expect(backup).toContain(`\nStateDirectory=${setting('StateDirectory')} `)
  expect(backup).toContain(`${setting('ExecStart')} backup `)
})

test('the backups have the sandbox of the service, and no network', () => {
  const sandboxOf = (text: string) => text.slice(text.indexOf('ProtectSystem=')).match(/^\w+=.*$/gm) ?? []
  const [backup, service] = [read('deploy/petstore-backup.service'), unit.split('[Install]')[0] ?? ''].map(sandboxOf)
  const families = /^RestrictAddressFamilies=.*$/
  expect(service?.length).toBeGreaterThan(20)
  expect(backup).toEqual(service?.map((line) => line.replace(families, 'RestrictAddressFamilies=AF_UNIX')))
})

test('the environment file cannot override the ports of the template', () => {
  const [reset, start, ...others] = [...read('deploy/petstore@.service.d/instances.conf').matchAll(/^\w+=.*$/gm)].flat()
  expect([reset, others]).toEqual(['ExecStart=', []])
  expect(start).toBe(`ExecStart=/usr/bin/env REUSE_PORT=true ADMIN_PORT=946%i ${setting('ExecStart')}`)
  expect(read('docs/guides/monitoring.md')).toContain('127.0.0.1:9461')
})

// The other tests run systemd's own checks, where they are installed.
if (spawnSync('systemd-analyze', ['--version']).status === 0) {
  test('systemd-analyze knows every setting', async () => {
    const path = join(temporaryFolder(), 'petstore.service')
    writeFileSync(path, unit.replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath}`))
    const { stdout, stderr } = await analyze(['verify', '--man=no', path])
    expect(stdout + stderr).toBe('')
    writeFileSync(path, unit.replace('[Install]', 'ProtectEverything=true\n[Install]'))
    expect((await analyze(['verify', '--man=no', path])).stderr).toContain('ProtectEverything')
  })

  test('systemd-analyze knows every setting of the template and of the backups', async () => {
    const folder = temporaryFolder()
    const write = (name: string, text: string) =>
      writeFileSync(join(folder, name), text.replace(/^(Exec\w+=)\S+/gm, `$1${process.execPath}`))
    mkdirSync(join(folder, 'petstore@.service.d'))
    write('petstore@.service', unit)
    const others = ['petstore@.service.d/instances.conf', 'petstore-backup.service', 'petstore-backup.timer']
    for (const name of others) write(name, read(`deploy/${name}`))
    const verify = () =>
      analyze(['verify', '--man=no', join(folder, 'petstore@1.service'), join(folder, 'petstore-backup.timer')])
    const { stdout, stderr } = await verify()
    expect(stdout + stderr).toBe('')
    write('petstore@.service.d/instances.conf', '[Service]\nReuse=port')
    expect((await verify()).stderr).toContain('Reuse')
  })

  test('systemd-analyze finds an exposure of at most 1.6 of 10', async () => {
    const path = join(temporaryFolder(), 'petstore.service')
    const exceeds = async (text: string) => {
      writeFileSync(path, text)
      const { code = 0 } = await analyze(['security', '--offline=true', '--threshold=16', '--no-pager', path])
      return code !== 0
    }
    expect(await exceeds(unit)).toBe(false)
    expect(await exceeds(unit.replace(/^SystemCallFilter=.*$/gm, ''))).toBe(true)
  })
}

/** Returns the output, also if the command fails. */
async function analyze(words: string[]): Promise<{ code?: number; stdout: string; stderr: string }> {
  return promisify(execFile)('systemd-analyze', words).catch((error) => error)
}
