import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { freePort } from '../../engine/test/support/free-port.ts'
import { runCommand } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { read } from './documents.ts'

/** Each duration in the alert rules is divided by this number. The interval of the scrapes becomes a second. */
export const scale = 15

/**
 * The begin of a command that a busy machine does not slow down. A scrape that takes longer than a second fails, and the time of
 * each alert begins again. `nice` runs the command also without the right to raise its priority.
 */
export const highPriority = ['nice', '--adjustment=-15']

/** Runs a Prometheus with the alert rules of deploy/, and without targets. */
export async function startPrometheus() {
  const folder = temporaryFolder()
  const address = `127.0.0.1:${await freePort()}`
  const targets: string[] = []
  const file = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content))
  writeFileSync(join(folder, 'rules.yaml'), scaled(read('deploy/prometheus-alerts.yaml')))
  file('targets.json', [])
  // JSON is YAML.
  file('prometheus.yaml', {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: 'petstore', file_sd_configs: [{ files: ['targets.json'], refresh_interval: '1s' }] }],
  })
  runCommand(
    [
      ...highPriority,
      'prometheus',
      '--config.file=prometheus.yaml',
      '--storage.tsdb.path=data',
      `--web.listen-address=${address}`,
    ],
    { folder },
  )
  async function get(path: string): Promise<unknown> {
    // Every response of this API has the data: https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview
    const { data } = (await (await fetch(`http://${address}/api/v1/${path}`)).json()) as { data: unknown }
    return data
  }
  await expect.poll(() => get('status/buildinfo').catch(() => undefined)).toBeDefined()

  async function value(query: string): Promise<number> {
    const { result } = (await get(`query?query=${encodeURIComponent(query)}`)) as {
      result: { value: [number, string] }[]
    }
    return Number(result[0]?.value[1])
  }
  async function firing(): Promise<Alert[]> {
    const { alerts } = (await get('alerts')) as { alerts: Alert[] }
    return alerts.filter(({ state }) => state === 'firing')
  }
  return {
    /** Whether the alert fires for the target, or for any. */
    isFiring: async (name: string, target?: string) =>
      (await firing()).some(
        ({ labels }) => labels.alertname === name && (target === undefined || labels.instance === target),
      ),
    /** The value of a query that selects one series. */
    value,
    /** Waits until the target is scraped. */
    async addTarget(target: string): Promise<void> {
      targets.push(target)
      file('targets.json', [{ targets }])
      await expect.poll(() => value(`up{instance="${target}"}`)).toBe(1)
    },
  }
}

interface Alert {
  state: string
  labels: { alertname: string; instance?: string }
}

function scaled(rules: string): string {
  return rules.replaceAll(/(?<=for: |\[|:)(\d+)([ms])(?=\]|:|$)/gm, (_text, count, unit) => {
    const seconds = (Number(count) * (unit === 'm' ? 60 : 1)) / scale
    expect(Number.isInteger(seconds)).toBe(true)
    return `${seconds}s`
  })
}
