import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { type LoadName, loads, type Results, type Slice } from './loads.ts'
import type { Contestant } from './servers.ts'

/** Quartiles with linear interpolation between the two nearest values. */
export function quartiles(values: number[]): { lower: number; median: number; upper: number } {
  const sorted = values.toSorted((a, b) => a - b)
  const quantile = (share: number) => {
    const position = (sorted.length - 1) * share
    const below = sorted[Math.floor(position)] ?? Number.NaN
    const above = sorted[Math.ceil(position)] ?? Number.NaN
    return below + (above - below) * (position % 1)
  }
  return { lower: quantile(0.25), median: quantile(0.5), upper: quantile(0.75) }
}

type Cell = (slices: Slice[]) => string

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 })
const rate = medianCell((slice) => slice.rate)
const writersRate = medianCell((slice) => slice.writersRate ?? Number.NaN)
const p50 = medianCell((slice) => slice.p50)
const p99 = medianCell((slice) => slice.p99)

/** Tables of the rates, of the latencies and of the CPU times. */
export function figureTables(contestants: Record<string, Contestant>, names: LoadName[], results: Results): string[] {
  const row = (load: LoadName, cell: Cell, title: string = loads[load].title) => [
    title,
    ...Object.keys(contestants).map((contestant) => cell(results.of(load, contestant))),
  ]
  const unpaced = names.filter((name) => !isPaced(name))
  const rates = unpaced.map((name) => [
    row(name, rate),
    ...(hasWriters(name) ? [row(name, writersRate, '… creates')] : []),
  ])
  const p50s = names
    .filter((name) => loads[name].connections === 1 || isPaced(name))
    .map((name) => row(name, p50, `${loads[name].title}, p50`))
  const p99s = names.map((name) => row(name, p99))
  const cpuTimes = names.filter((name) => !hasWriters(name)).map((name) => row(name, cpuCell))
  const head = ['', ...Object.values(contestants).map(({ title }) => title)]
  return [
    `Requests per second:\n\n${table(head, rates.flat())}`,
    `Milliseconds, p99 unless stated otherwise:\n\n${table(head, [...p50s, ...p99s])}`,
    `Microseconds of CPU time per request, user + system (quartiles of the sum):\n\n${table(head, cpuTimes)}`,
  ]
}

function isPaced(name: LoadName): boolean {
  return 'pace' in loads[name]
}

function hasWriters(name: LoadName): boolean {
  return 'writers' in loads[name]
}

function medianCell(figure: (slice: Slice) => number): Cell {
  return (slices) => {
    const values = quartiles(slices.map(figure))
    return `${number.format(values.median)} (${spread(values)})`
  }
}

function cpuCell(slices: Slice[]): string {
  const [user, system] = [slices.map((slice) => slice.user), slices.map((slice) => slice.system)].map(quartiles)
  const sum = quartiles(slices.map((slice) => slice.user + slice.system))
  return `${number.format(user?.median ?? 0)}+${number.format(system?.median ?? 0)} (${spread(sum)})`
}

function spread({ lower, upper }: ReturnType<typeof quartiles>): string {
  return `${number.format(lower)}–${number.format(upper)}`
}

/** A Markdown table with padded columns, so that it is also readable as text. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0), 3))
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  const line = (cells: string[]) => `| ${cells.map(pad).join(' | ')} |`
  const rules = widths.map((width, column) => `${'-'.repeat(width + 1)}${column === 0 ? '-' : ':'}`)
  return [line(head), `|${rules.join('|')}|`, ...rows.map(line)].join('\n')
}

/** The cells of the rows of a table. */
export function rowsOf(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const root = new URL('../', import.meta.url)

/** A generated section of a document, between two comments. The text around it is written by hand. */
export function readSection(path: string, name: string): string {
  return section(name).exec(readFileSync(new URL(path, root), 'utf8'))?.[2] ?? ''
}

export function writeSection(path: string, name: string, content: string): void {
  const file = new URL(path, root)
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replace(section(name), (_all, start, _before, end) => `${start}\n${content}\n\n${end}`),
  )
}

function section(name: string): RegExp {
  return new RegExp(`(<!-- ${name} -->\\n)([^]*?)(<!-- /${name} -->)`)
}

/** The command, date, commit and machine of a measurement. */
export function circumstances(command: string): string {
  const [{ model } = { model: 'unknown' }] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const git = (...words: string[]) => execFileSync('git', words, { encoding: 'utf8', cwd: root }).trim()
  // An earlier part of the benchmark has already changed the documents.
  const isChanged = git('status', '--porcelain', '--', ':/', ':!*.md') !== ''
  return [
    `Measured with \`${command}\` on ${new Date().toISOString().slice(0, 10)} at ${git('describe', '--always')}${isChanged ? ' with changes' : ''}:`,
    `${cpus().length} × ${model.trim()}, ${memory} GiB, Linux ${release()}, Node ${process.version}.`,
  ].join(' ')
}

export function versions(packages: string[]): string {
  const version = (name: string) =>
    JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, root), 'utf8')).version
  return packages.map((name) => `${name} ${version(name)}`).join(', ')
}
