import { type ChildProcess, spawn } from 'node:child_process'
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { extname, join } from 'node:path'

/**
 * Runs a service, and restarts it when a source file in this folder changes: `node engine/dev.ts main.ts`. It watches
 * folders, because Node's --watch and --watch-path watch inodes on Linux: they lose a file that an editor replaces by a
 * rename. They also miss the fix of a syntax error.
 */

/** Folders that the service does not load, besides those whose names begin with a dot. */
const others = ['node_modules', 'dist', 'data', 'test', 'web', 'console']
/** Extensions of source files. A new folder has none. Temporary files of editors have others or begin with a dot. */
const extensions = ['', '.ts', '.mjs', '.js', '.json', '.sql']
/** Milliseconds. Saves within this time cause one restart. */
const settleTime = 100

let service: ChildProcess | undefined
let watchers: FSWatcher[] = []
let timer: NodeJS.Timeout | undefined
let isOutdated = false
let isStopping = false

// Forwards every signal, because a second one ends the service at once.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isStopping = true
    if (service) service.kill(signal)
    else process.exit()
  })
}
start()

function start(): void {
  isOutdated = false
  // At each start, because folders may have been added or removed.
  for (const watcher of watchers) watcher.close()
  watchers = foldersIn('.').map((folder) => watch(folder, noticeChange))
  const words = [...process.execArgv, ...process.argv.slice(2)]
  service = spawn(process.execPath, words, { stdio: 'inherit' }).once('exit', (code) => {
    service = undefined
    if (isStopping) process.exit(code ?? 1)
    if (isOutdated) start()
    else process.stderr.write('The service ended. It starts again when a source file changes.\n')
  })
}

function foldersIn(folder: string): string[] {
  const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const names = inside.map(({ name }) => name).filter((name) => !name.startsWith('.') && !others.includes(name))
  return [folder, ...names.flatMap((name) => foldersIn(join(folder, name)))]
}

function noticeChange(_event: string, name: string | null): void {
  if (name?.startsWith('.') || !extensions.includes(extname(name ?? ''))) return
  clearTimeout(timer)
  timer = setTimeout(restart, settleTime)
}

function restart(): void {
  if (isOutdated || isStopping) return
  if (service) {
    isOutdated = true
    // SIGTERM would drain first.
    service.kill('SIGINT')
  } else {
    start()
  }
}
