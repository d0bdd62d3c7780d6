import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { anchorsOf, document } from '../support/documents.ts'
import { type AlertRule, alerts, hasPrometheus, queries, selectorsIn } from '../support/monitoring.ts'

/** Seconds between two scrapes. */
const interval = 15
/** Seconds after which the fault of each case begins. The service is healthy before. */
const faultAt = 1_800

/** The values of the series of a metric: of a gauge, or of a counter as its rate per second. */
interface Series {
  labels?: string
  kind?: 'gauge' | 'counter'
  healthy: Value
  faulty: Value
}
/** `stale` means that the series has ended. */
type Value = number | 'stale' | ((seconds: number) => number)

interface Case {
  alert: string
  series: Record<string, Series | Series[]>
  /** Seconds from the begin of the fault until the condition of the rule is true. */
  trueAfter?: number
  /** Seconds from the end of the fault until the service counts as recovered. */
  recoveredAfter?: number
}

const rate = (labels: string, healthy: number, faulty: number): Series => ({ labels, healthy, faulty, kind: 'counter' })
const gauge = (healthy: Value, faulty: Value): Series => ({ healthy, faulty })
/** Ten observations a second, which take 0.1 s or 1 s. */
const durations = (labels: string): Series[] => [
  rate(`${labels}le="0.25"`, 10, 0),
  rate(`${labels}le="0.5"`, 10, 0),
  rate(`${labels}le="1"`, 10, 10),
  rate(`${labels}le="+Inf"`, 10, 10),
]
const failures = (reason: string) => ({ petstore_write_failures_total: rate(`reason="${reason}"`, 0, 1) })

const cases: Case[] = [
  { alert: 'PetstoreDown', series: { up: gauge(1, 0) } },
  { alert: 'PetstoreMissing', series: { up: gauge(1, 'stale') } },
  { alert: 'PetstoreNotReady', series: { petstore_ready: gauge(1, 0) } },
  {
    alert: 'PetstoreRestarts',
    series: { process_start_time_seconds: gauge(0, (seconds) => Math.floor(seconds / 120) * 120) },
    trueAfter: 480,
    recoveredAfter: 600,
  },
  {
    alert: 'PetstoreErrors',
    series: {
      petstore_request_duration_seconds_count: [
        rate('adapter="rest",status="200"', 10, 10),
        rate('adapter="rpc",status="503"', 0, 1),
      ],
    },
  },
  { alert: 'PetstoreSlow', series: { petstore_request_duration_seconds_bucket: durations('adapter="rest",') } },
  { alert: 'PetstoreOverloaded', series: { petstore_requests_rejected_total: rate('reason="overloaded"', 0, 1) } },
  {
    alert: 'PetstoreKeysRejected',
    series: { petstore_requests_rejected_total: rate('reason="unknown"', 0.1, 10) },
    trueAfter: 60,
  },
  ...['full', 'io', 'read_only', 'corrupt', 'hanging', 'schema'].map((reason) => ({
    alert: 'PetstoreWritesFail',
    series: failures(reason),
  })),
  ...['busy', 'queue_full', 'unreachable', 'other'].map((reason) => ({
    alert: 'PetstoreWritesRefused',
    series: failures(reason),
    trueAfter: 600,
  })),
  { alert: 'PetstoreWriteQueueLong', series: { petstore_write_queue_length: gauge(3, 5_000) } },
  { alert: 'PetstoreCommitsSlow', series: { petstore_transaction_duration_seconds_bucket: durations('') } },
  { alert: 'PetstoreWriteAheadLogLarge', series: { petstore_wal_bytes: gauge(2 ** 26, 2 ** 29) } },
  {
    alert: 'PetstoreDiskFilling',
    series: { petstore_disk_free_bytes: gauge(20, 4), petstore_disk_bytes: gauge(100, 100) },
  },
  {
    alert: 'PetstoreBackupOld',
    series: {
      petstore_backup_interval_seconds: gauge(600, 600),
      petstore_backup_last_success_timestamp_seconds: gauge((seconds) => seconds - (seconds % 600), faultAt),
    },
    trueAfter: 1_800,
  },
  {
    alert: 'PetstoreBackupOld',
    series: {
      petstore_backup_interval_seconds: gauge(faultAt / 3, faultAt / 3),
      process_start_time_seconds: gauge(0, 0),
      petstore_backup_last_success_timestamp_seconds: gauge((seconds) => seconds, 'stale'),
    },
  },
  {
    alert: 'PetstoreBackupMissing',
    series: {
      petstore_wal_bytes: gauge(0, 0),
      process_start_time_seconds: gauge(0, 0),
      petstore_backup_last_success_timestamp_seconds: gauge((seconds) => seconds, faultAt),
    },
    trueAfter: 172_800,
  },
  {
    alert: 'PetstoreBackupMissing',
    series: {
      petstore_wal_bytes: gauge(0, 0),
      process_start_time_seconds: gauge(0, 0),
      petstore_backup_last_success_timestamp_seconds: gauge((seconds) => seconds, 'stale'),
    },
    trueAfter: 172_800 - faultAt,
  },
  { alert: 'PetstoreBackupFailing', series: { petstore_backup_failed_attempts: gauge(0, 3) } },
  { alert: 'PetstorePoolExhausted', series: { petstore_postgres_waiting: gauge(0, 5) } },
  { alert: 'PetstoreConnectionErrors', series: { petstore_postgres_connection_errors_total: rate('', 0, 1) } },
  { alert: 'PetstoreEventLoopSlow', series: { nodejs_eventloop_lag_p99_seconds: gauge(0.02, 1) } },
  // As many as a service has without connections and with all that it accepts.
  ...[256, 1_024, 65_536].map((limit) => ({
    alert: 'PetstoreFileDescriptorsLow',
    series: {
      process_open_fds: gauge(40, 40 + Math.min(limit - 128, 10_000)),
      process_max_fds: gauge(limit, limit),
    },
  })),
  { alert: 'PetstoreOutputDropped', series: { petstore_output_lines_dropped_total: rate('', 0, 10) } },
]

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

test('each alert, and each reason of failed writes that an alert names, has a case', () => {
  expect([...new Set(cases.map(({ alert }) => alert))]).toEqual(alerts.map(({ alert }) => alert))
  for (const { alert, expr } of alerts) {
    const reasons = selectorsIn(expr)
      .filter(({ name }) => name === 'petstore_write_failures_total')
      .flatMap(({ matchers }) => matchers.flatMap(({ value }) => value.split('|')))
    const tested = cases.filter((each) => each.alert === alert).flatMap(({ series }) => JSON.stringify(series))
    for (const reason of reasons) expect(tested.join(), alert).toContain(`reason=\\"${reason}\\"`)
  }
})

test('each condition on a rate of five minutes or more also looks at the last minute', () => {
  for (const { alert, expr } of alerts.filter(({ expr }) => /rate\(/.test(expr))) expect(expr, alert).toContain('[1m]')
})

if (hasPrometheus) {
  test('Prometheus can evaluate each query of the dashboard', () => {
    const variables = { $__rate_interval: '1m', $job: '.*', $instance: '.*' }
    const evaluated = queries().map(({ expr }) => {
      const filled = Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(name, value), expr)
      return { expr: `count(${filled}) > Inf`, eval_time: '1m', exp_samples: [] }
    })
    runPromtool(alerts[0], [{ interval: `${interval}s`, promql_expr_test: evaluated }])
  })

  test.for(cases.map((each, index) => [`${each.alert} ${index}`, each] as const))(
    '%s is silent for a healthy service and a short fault, fires in time, and resolves within a minute of recovery',
    ([, each]) => {
      const rule = alerts.find(({ alert }) => alert === each.alert)
      const lasting = minutesIn(rule?.for) * 60
      const { trueAfter = 0, recoveredAfter = 0 } = each
      const firesAfter = trueAfter + lasting + 60
      const long = firesAfter + 300
      const short = (trueAfter + lasting) / 2
      const fires = (seconds: number, range: number) => ({
        expr: `count(count_over_time(ALERTS{alertname="${each.alert}",alertstate="firing"}[${range}s]))`,
        eval_time: `${seconds}s`,
      })
      const firing = [{ value: 1 }]
      runPromtool(rule, [
        {
          interval: `${interval}s`,
          input_series: seriesOf(each, long),
          promql_expr_test: [
            { ...fires(faultAt, faultAt), exp_samples: [] },
            { ...fires(faultAt + firesAfter, interval), exp_samples: firing },
            { ...fires(faultAt + long, interval), exp_samples: firing },
            { ...fires(faultAt + long + recoveredAfter + 60 + interval, interval - 1), exp_samples: [] },
          ],
        },
        {
          interval: `${interval}s`,
          input_series: seriesOf(each, short),
          promql_expr_test: [{ ...fires(faultAt + short + 1_800, faultAt), exp_samples: [] }],
        },
      ])
    },
  )
}

function minutesIn(duration = '0m'): number {
  return Number(duration.replace('m', ''))
}

/** The series of a service that is faulty for some seconds. */
function seriesOf({ series }: Case, duration: number) {
  return Object.entries(series).flatMap(([name, each]) =>
    [each].flat().map(({ labels = '', kind, healthy, faulty }) => {
      let total = 0
      const values = Array.from({ length: (faultAt + duration + 1_800) / interval }, (_, index) => {
        const seconds = index * interval
        const isFaulty = seconds >= faultAt && seconds < faultAt + duration
        const value = isFaulty ? faulty : healthy
        const now = typeof value === 'function' ? value(seconds) : value
        if (kind !== 'counter') return now
        total += Number(now) * interval
        return total
      })
      const own = labels && `,${labels}`
      return { series: `${name}{job="petstore",instance="a"${own}}`, values: values.join(' ') }
    }),
  )
}

function runPromtool(rule: AlertRule | undefined, tests: object[]): void {
  const folder = temporaryFolder()
  // JSON is YAML.
  writeFileSync(join(folder, 'rules'), JSON.stringify({ groups: [{ name: 'petstore', rules: [rule] }] }))
  const file = { rule_files: ['rules'], evaluation_interval: `${interval}s`, tests }
  writeFileSync(join(folder, 'tests'), JSON.stringify(file))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(folder, 'tests')], {
    encoding: 'utf8',
  })
  expect(status, stdout + stderr).toBe(0)
}
