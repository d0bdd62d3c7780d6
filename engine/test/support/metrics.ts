/** The text format of Prometheus, for tests that read metrics. */

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export function samplesIn(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (name === undefined) throw new Error(`This line is no sample: ${line}`)
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text] as const)
      return { name, labels: Object.fromEntries(pairs), value: Number(value) }
    })
}

/** The sum of the samples with this name and these labels, or undefined without any. */
export function readMetric(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const found = samplesIn(text).filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

/** The number of failed writes by reason, without the reasons that have none. */
export function writeFailuresIn(text: string): Record<string, number> {
  return Object.fromEntries(
    samplesIn(text)
      .filter(({ name, value }) => name.endsWith('_write_failures_total') && value > 0)
      .map(({ labels, value }) => [labels.reason, value]),
  )
}

/** The type of each metric by its name. */
export function typesIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
}

/** The series as text, without their values. */
export function seriesIn(text: string): string[] {
  return samplesIn(text).map(({ name, labels }) => `${name} ${JSON.stringify(labels)}`)
}
