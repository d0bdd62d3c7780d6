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

/** Runs a shell command that calls curl, which is replaced, because not every machine has it. Returns its output. */
export async function runCurl(command: string, env: Record<string, string> = {}): Promise<string> {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'curl.mjs'), replacement)
  writeFileSync(join(folder, 'curl'), `#!/bin/sh\nexec '${process.execPath}' '${join(folder, 'curl.mjs')}' "$@"\n`)
  chmodSync(join(folder, 'curl'), 0o755)
  const path = [folder, process.env.PATH].join(delimiter)
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: folder, env: { ...env, PATH: path } })
  return stdout
}

export function isInstalled(command: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.some((folder) => existsSync(join(folder, command)))
}
