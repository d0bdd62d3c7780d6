import { type ChildProcess, spawn } from 'node:child_process'
import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { extname, join } from 'node:path'
import { folders, program } from '../sources.ts'

// Restarts the service when a source file changes. It watches folders, because Node's --watch and --watch-path watch
// inodes on Linux: they lose a file that an editor replaces by a rename. They also miss the fix of a syntax error.

const root = join(import.meta.dirname, '..')
/** Extensions of source files. A new folder has none. Temporary files of editors have others or begin with a dot. */
const extensions = ['', '.ts', '.mjs', '.js', '.css', '.json', '.sql']
/** Milliseconds. Saves within this time cause one restart. */
const settleTime = 100

let service: ChildProcess | undefined
let watchers: FSWatcher[] = []
let timer: NodeJS.Timeout | undefined
let isOutdated = false
let isStopping = false

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal))
start()

function start(): void {
  isOutdated = false
  watchSources()
  service = spawn(process.execPath, [join(root, 'server/launch.mjs')], { stdio: 'inherit' }).once('exit', (code) => {
    service = undefined
    if (isStopping) process.exit(code ?? 1)
    if (isOutdated) start()
    else process.stderr.write('The service ended. It starts again when a source file changes.\n')
  })
}

/** Runs at each start, because folders may have been added or removed. */
function watchSources(): void {
  for (const watcher of watchers) watcher.close()
  watchers = program
    .flatMap((part) => folders[part])
    .flatMap(foldersIn)
    .map((folder) =>
      watch(folder, (_event, name) => {
        if (name?.startsWith('.') || !extensions.includes(extname(name ?? ''))) return
        clearTimeout(timer)
        timer = setTimeout(restart, settleTime)
      }),
    )
}

function foldersIn(name: string): string[] {
  const entries = readdirSync(join(root, name), { recursive: true, withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory())
  return [join(root, name), ...folders.map((folder) => join(folder.parentPath, folder.name))]
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

/** Forwards every signal, because a second one ends the service at once. */
function stop(signal: NodeJS.Signals): void {
  isStopping = true
  if (service) service.kill(signal)
  else process.exit()
}
