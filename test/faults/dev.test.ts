import { cpSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand, stopService, waitForOutput } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { folders, program } from '../../sources.ts'

const root = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('"npm run dev" restarts after every kind of save, and recovers when a syntax error is fixed', async () => {
  const folder = temporaryFolder()
  for (const name of [...program.flatMap((part) => folders[part]), 'engine/dev.ts', 'package.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'engine/service/serve/serve.ts')
  const code = readFileSync(file, 'utf8')
  const versioned = (version: string) => code.replace('listening at', `${version} listening at`)

  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const run = runCommand(['sh', '-c', scripts.dev], { folder, env: { PATH, PORT: '0' } })
  // SIGKILL would leave the service running.
  onTestFinished(async () => {
    run.child.kill('SIGTERM')
    await run.ended
  })
  await waitForOutput(run, /("listening at)/)

  saveByRename(file, versioned('second'))
  await waitForOutput(run, /(second listening at)/)
  writeFileSync(file, versioned('third'))
  await waitForOutput(run, /(third listening at)/)
  saveByRename(file, `${code}\nconst =`)
  await expect.poll(() => run.stderr).toContain('starts again when a source file changes')
  writeFileSync(file, versioned('fourth'))
  await waitForOutput(run, /(fourth listening at)/)

  await stopService(run)
})

function saveByRename(path: string, text: string): void {
  writeFileSync(`${path}~`, text)
  renameSync(`${path}~`, path)
}
