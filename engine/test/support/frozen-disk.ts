import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type AtEnd, temporaryFolder } from './temporary.ts'

/** An ext4 file system in a file, which can be frozen as volume snapshots do (fsfreeze). */
export interface FreezableDisk {
  folder: string
  /** Blocks every write to the file system until `thaw`, or for 30 s at most. */
  freeze: () => void
  thaw: () => void
}

/** Whether this process may mount and freeze a file system. This needs root and loop devices. */
export function canFreeze(): boolean {
  const cleanings: Parameters<AtEnd>[0][] = []
  try {
    const { freeze, thaw } = mountFreezableDisk((clean) => cleanings.push(clean))
    freeze()
    thaw()
    return true
  } catch {
    return false
  } finally {
    for (const clean of cleanings.toReversed()) void clean()
  }
}

export function mountFreezableDisk(atEnd: AtEnd): FreezableDisk {
  const place = temporaryFolder(atEnd)
  const [image, folder] = [join(place, 'image'), join(place, 'disk')]
  mkdirSync(folder)
  run('truncate', '--size', '32M', image)
  run('mkfs.ext4', '-q', image)
  run('mount', image, folder)
  atEnd(() => {
    spawnSync('fsfreeze', ['--unfreeze', folder], { timeout: 10_000 })
    run('umount', '--lazy', folder)
  })
  return {
    folder,
    freeze() {
      // Thaws the file system even if this process ends first.
      spawn('sh', ['-c', 'sleep 30; fsfreeze --unfreeze "$0"', folder], { detached: true, stdio: 'ignore' }).unref()
      run('fsfreeze', '--freeze', folder)
    },
    thaw: () => run('fsfreeze', '--unfreeze', folder),
  }
}

function run(command: string, ...words: string[]): void {
  const { status, stderr, error } = spawnSync(command, words, { timeout: 60_000, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? stderr}`)
}
