import { spawnSync } from 'node:child_process'
import { parse } from 'yaml'
import type { Sample } from '../../engine/test/support/metrics.ts'
import { document, read, rowsOf } from './documents.ts'

/** The dashboard and the alert rules in deploy/, and the documented metrics, for tests that compare them with a scrape. */

/** Whether Debian's package "prometheus" is installed. CI installs it. */
export const hasPrometheus = spawnSync('promtool', ['--version']).status === 0

interface Panel {
  id: number
  title: string
  type: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
}

export interface AlertRule {
  alert: string
  expr: string
  for?: string
  labels: Record<string, string>
  annotations: Record<string, string>
}

export const dashboard: { uid: string; panels: Panel[] } = JSON.parse(read('deploy/grafana-dashboard.json'))

const rules: { groups: { rules: AlertRule[] }[] } = parse(read('deploy/prometheus-alerts.yaml'))
export const alerts = rules.groups.flatMap((group) => group.rules)

/** Every query of the dashboard and of the alerts, by the title of its panel or the name of its alert. */
export function queries(): { source: string; expr: string }[] {
  return [
    ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ source: title, expr }))),
    ...alerts.map(({ alert, expr }) => ({ source: alert, expr })),
  ]
}

export interface Selector {
  name: string
  matchers: { label: string; operator: string; value: string }[]
}

/** The series that a query selects. A variable of the dashboard matches anything. */
export function selectorsIn(expr: string): Selector[] {
  return [...expr.matchAll(/\b((?:petstore|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', text = '']) => ({
    name,
    matchers: [...text.matchAll(/(\w+)(=~|!=|!~|=)"([^"]*)"/g)]
      .map(([, label = '', operator = '', value = '']) => ({ label, operator, value }))
      .filter(({ label }) => !['job', 'instance'].includes(label)),
  }))
}

export function matches({ name, matchers }: Selector, sample: Sample): boolean {
  if (sample.name !== name) return false
  return matchers.every(({ label, operator, value }) => {
    const actual = sample.labels[label] ?? ''
    const isEqual = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(actual) : actual === value
    return isEqual !== operator.startsWith('!')
  })
}

/** The table of metrics in docs/reference/metrics.md. */
export const metricsTable = rowsOf(document('docs/reference/metrics.md'))
  .map(([name = '', type = '', labels = '']) => ({
    name: name.replaceAll('`', ''),
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).sort(),
  }))
  .filter(({ name }) => name.startsWith('petstore_'))
