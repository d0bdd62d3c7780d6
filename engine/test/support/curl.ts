import { execFile } from 'node:child_process'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from './temporary.ts'

/** Sends a request with the options that the console's commands use. */
const replacement = `import { parseArgs } from 'node:util'
const { values: { header, data }, positionals: [url] } = parseArgs({
  options: { header: { type: 'string', multiple: true }, data: { type: 'string' } },
  allowPositionals: true,
})
const headers = header.map((line) => /^(.+?): (.*)$/.exec(line).slice(1))
const response = await fetch(url, { headers, ...(data !== undefined && { method: 'POST', body: data }) })
process.stdout.write(await response.text())
`

/** The curls that a test can run: a replacement, because not every machine has curl, and the machine's own. */
export const curls: ('replaced' | 'installed')[] = ['replaced', ...(isInstalled('curl') ? ['installed' as const] : [])]

/** Runs a shell command that calls curl, and returns its output. */
export async function runCurl(
  command: string,
  env: Record<string, string> = {},
  curl: (typeof curls)[number] = 'replaced',
): Promise<string> {
  const folder = temporaryFolder()
  if (curl === 'replaced') {
    writeFileSync(join(folder, 'curl.mjs'), replacement)
    writeFileSync(join(folder, 'curl'), `#!/bin/sh\nexec '${process.execPath}' '${join(folder, 'curl.mjs')}' "$@"\n`)
    chmodSync(join(folder, 'curl'), 0o755)
  }
  const path = [folder, process.env.PATH].join(delimiter)
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: folder, env: { ...env, PATH: path } })
  return stdout
}

export function isInstalled(command: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => existsSync(join(folder, command)))
}
