import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import type { Claim } from './claims.ts'

const file = new URL('RESULTS.md', import.meta.url)

/** A Markdown table with padded columns, so that it is also readable as text. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0), 3))
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

export function claimTable(claims: Claim[]): string {
  const rows = claims.map(({ text, seen, holds }) => [text, seen, holds ? 'met' : 'not met'])
  return table(['Goal', 'measured', ''], rows)
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** Whether a name is in a list of the command line, which names all if it is absent. */
export function isChosen(name: string, list: string | undefined): boolean {
  return list === undefined || list.split(',').includes(name)
}

/** Replaces the line of progress in a terminal. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
}

/** Replaces a generated section of RESULTS.md. The text between the sections is written by hand. */
export function writeSection(name: string, content: string): void {
  const text = readFileSync(file, 'utf8')
  const section = new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`)
  writeFileSync(
    file,
    text.replace(section, (_all, start, end) => `${start}\n${content}\n\n${end}`),
  )
}

/** The command, date, commit and machine of a measurement. */
export function circumstances(command: string): string {
  const [{ model } = { model: 'unknown' }] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', cwd: import.meta.dirname }).trim()
  // An earlier section of this run has already changed the file of results.
  const isChanged = git('status', '--porcelain', '--', ':/', ':!RESULTS.md') !== ''
  const commit = git('describe', '--always') + (isChanged ? '-dirty' : '')
  return [
    `Measured with \`${command}\` on ${new Date().toISOString().slice(0, 10)} at ${commit}:`,
    `${cpus().length} × ${model.trim()}, ${memory} GiB, Linux ${release()}, Node ${process.version}.`,
  ].join(' ')
}

export function versions(packages: string[]): string {
  const version = (name: string) =>
    JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), 'utf8')).version
  return packages.map((name) => `${name} ${version(name)}`).join(', ')
}
