import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../engine/test/support/free-port.ts'
import { isLongForm } from '../../engine/test/support/long-form.ts'
import { runCommand, waitForOutput } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { anchorsOf, document, root } from '../support/documents.ts'
import { alerts, hasPrometheus, queries } from '../support/monitoring.ts'
import { startServer } from '../support/petstore.ts'

test('each alert has a severity, a summary, and a section that says what to do', () => {
  const anchors = anchorsOf(document('docs/guides/monitoring.md'))
  expect(alerts.length).toBeGreaterThan(10)
  for (const { alert, labels, annotations } of alerts) {
    expect(['warning', 'critical'], alert).toContain(labels.severity)
    expect(annotations.summary, alert).toMatch(/\.$/)
    expect(annotations.runbook_url, alert).toBe(
      `https://github.com/petstore-service/petstore/blob/main/docs/guides/monitoring.md#${alert.toLowerCase()}`,
    )
    expect(anchors, alert).toContain(alert.toLowerCase())
  }
  const documented = anchors.filter((anchor) => /^petstore./.test(anchor))
  expect(documented.toSorted()).toEqual(alerts.map(({ alert }) => alert.toLowerCase()).toSorted())
})

if (hasPrometheus && isLongForm) {
  test('Prometheus scrapes the service and evaluates every alert and every query of the dashboard', async () => {
    const server = await startServer({ env: { ADMIN_PORT: '0' } })
    const admin = await waitForOutput(server, /metrics and health at (http:[^"\s]+)/)
    const ask = await startPrometheus(new URL(admin).host)
    await expect.poll(() => ask('query?query=up').then(valuesIn)).toEqual(['1'])
    await expect.poll(() => ask('query?query=petstore_build_info').then(valuesIn)).toEqual(['1'])

    const rules = async () => (await ask('rules')).groups.flatMap((group: { rules: unknown[] }) => group.rules)
    const evaluated = { health: 'ok', state: 'inactive' }
    await expect.poll(rules).toMatchObject(alerts.map(({ alert }) => ({ name: alert, ...evaluated })))
    for (const { expr } of queries()) {
      const query = expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', '.*').replaceAll('$instance', '.*')
      await ask(`query?query=${encodeURIComponent(query)}`)
    }
  })
}

/** Starts Prometheus with the alert rules. Returns a function that asks its HTTP API and expects success. */
async function startPrometheus(target: string) {
  const folder = temporaryFolder()
  copyFileSync(join(root, 'deploy/prometheus-alerts.yaml'), join(folder, 'prometheus-alerts.yaml'))
  const configuration = `
global: { scrape_interval: 1s, evaluation_interval: 1s }
scrape_configs: [{ job_name: petstore, static_configs: [{ targets: ['${target}'] }] }]
rule_files: [prometheus-alerts.yaml]
`
  writeFileSync(join(folder, 'prometheus.yaml'), configuration)
  const address = `127.0.0.1:${await freePort()}`
  const options = ['--config.file=prometheus.yaml', '--storage.tsdb.path=data', `--web.listen-address=${address}`]
  const run = runCommand(['prometheus', ...options], { folder })
  await expect.poll(() => fetch(`http://${address}/-/ready`).then(({ status }) => status, String)).toBe(200)
  expect(run.child.exitCode).toBeNull()
  return async (path: string) => {
    const response = await fetch(`http://${address}/api/v1/${path}`)
    expect(response.status, path).toBe(200)
    return JSON.parse(await response.text()).data
  }
}

function valuesIn({ result }: { result: { value: [number, string] }[] }): string[] {
  return result.map(({ value: [, value] }) => value)
}
