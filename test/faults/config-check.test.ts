import { expect, test } from 'vitest'
import type { Store } from '../../db/store.ts'
import { createAdminApp, createApp } from '../../engine/service/app.ts'
import type { Config } from '../../engine/service/config.ts'
import { OperatorError } from '../../engine/service/operator/operator-error.ts'
import { findListenProblems } from '../../engine/service/serve/addresses.ts'
import { logTo } from '../../engine/service/telemetry/log.ts'
import { createMetrics } from '../../engine/service/telemetry/metrics.ts'
import { service } from '../../server/service.ts'
import { openTestStore, product, readConfig, runProgram, variableNames } from '../support/petstore.ts'

const hostile = [
  ...'0 -1 00 1e3 0x10 .5 1.0 9999 10000 99999999999999999999 NaN true null [] {} % %zz é 😀 / // . * ? # @'.split(' '),
  ...': , ,, :: ::1 [::1] [ 0.0.0.0 256.1.1.1 198.51.100.1 fe80::1%lo 127.0.0.1:80 no.such.invalid'.split(' '),
  ...'0.0.0.0/0 ::/0 10.0.0.0/8,0.0.0.0/0 10.0.0.0/8, ::ffff:0:0/95 1.2.3.4/00 1.2.3.4/32 loopback http://'.split(' '),
  ...'http:/// http://x https://x:99999 http://[::1 http://x/%zz http://é.example file: file:/ file:.'.split(' '),
  ...'file://h/a postgres:// postgres://%zz postgres://u:%zz@h/d postgres://h/%zz / /dev/null /dev/zero'.split(' '),
  ...'/no/such 1/s 999999999/h 9999w 1s json pretty info silent'.split(' '),
  ...[' ', 'a'.repeat(5_000), 'a b', 'a\nb', 'http://a b'],
]

test('the checks of the start accept exactly the values with which the service can be built and can listen', async () => {
  const store = await openTestStore()
  const [accepted, refused] = [new Set<string>(), new Set<string>()]
  for (const name of variableNames) {
    for (const value of hostile) {
      const config = configWith(name, value)
      if (config && (await canListen(config))) accepted.add(name)
      else refused.add(name)
      if (config) expect(await canStart(config, store), `${name}=${value}`).toBe(await canListen(config))
    }
  }
  expect(refused).toEqual(new Set(variableNames))
  // White space counts as no value.
  expect(accepted).toEqual(new Set(variableNames))
})

test('the start lists every address that it cannot listen on, without a stack trace', async () => {
  const run = runProgram({
    env: { HOST: '198.51.100.1', PORT: '3000', ADMIN_HOST: '198.51.100.2', ADMIN_PORT: '9464' },
  })
  expect([await run.ended, run.stdout]).toEqual([1, ''])
  expect(run.stderr).toBe(
    'The service cannot listen on the address 198.51.100.1:3000 (EADDRNOTAVAIL): set HOST to an address of this machine.\n' +
      'The service cannot listen on the address 198.51.100.2:9464 (EADDRNOTAVAIL): set ADMIN_HOST to an address of this machine.\n',
  )
})

/** Undefined if the configuration is refused. */
function configWith(name: string, value: string): Config | undefined {
  const admin = name === 'ADMIN_HOST' ? { ADMIN_PORT: '0' } : {}
  try {
    return readConfig({ PORT: '0', ...admin, [name]: value })
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    expect(error.message).toMatch(new RegExp(`^The configuration is wrong:\n {2}${name}: expected .+$`, 's'))
    return undefined
  }
}

async function canListen(config: Config): Promise<boolean> {
  return (await findListenProblems(config)).every((problem) => problem.includes('is taken'))
}

/** Builds the service and listens, on free ports. */
async function canStart(config: Config, store: Store): Promise<boolean> {
  const log = logTo({ write: () => {} }, 'silent')
  const metrics = createMetrics(product)
  const app = await createApp({ service, config, store, log, metrics })
  const admin = createAdminApp(app, { service, config, log, metrics })
  try {
    await app.listen({ host: config.host, port: 0 })
    await admin.listen({ host: config.adminHost, port: 0 })
    return true
  } catch (error) {
    expect(error).toHaveProperty('syscall')
    return false
  } finally {
    await Promise.all([app.close(), admin.close()])
  }
}
