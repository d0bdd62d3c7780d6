import { spawnSync } from 'node:child_process'
import { copyFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessFixtures, runCommand, waitForOutput, whenListening } from './process.ts'
import { connectRestClient } from './rest-client.ts'
import { temporaryFolder } from './temporary.ts'

/** Whether this process may mount a file system. */
export function canMount(): boolean {
  return spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
}

/** A command line that runs a shell script as root of a mount namespace of its own. The script has the words as `"$@"`. */
export function inNamespace(script: string, words: string[]): string[] {
  return ['unshare', '-rm', 'sh', '-ec', script, 'sh', ...words]
}

export function smallDiskFixtures(program: string, { bannerKey, commandLine }: ProcessFixtures) {
  /** Runs the service with its database on a disk of 8 MiB, of which 6 MiB are in use. */
  async function startOnSmallDisk() {
    const folder = temporaryFolder()
    const script = `
      mount -t tmpfs -o size=8m none ${folder}
      dd if=/dev/zero of=${folder}/ballast bs=1M count=6 status=none
      cd ${folder}
      exec "$@"`
    const server = await whenListening(runCommand(inNamespace(script, commandLine)))
    const key = await waitForOutput(server, bannerKey)
    // The disk is mounted only in the mount namespace of the service, so its path leads through /proc.
    const inside = join(`/proc/${server.child.pid}/root`, folder)
    return {
      server,
      key,
      rest: connectRestClient(server.url, key),
      /** The working folder of the service, as this process reaches it. */
      folder: inside,
      /** Fills the disk until this many blocks of 4 KiB are left. */
      fillUp(blocksLeft: number): void {
        const { bavail, bsize } = statfsSync(inside)
        writeFileSync(join(inside, 'filling'), Buffer.alloc((bavail - blocksLeft) * bsize))
      },
      /** Removes the file that fills most of the disk. */
      makeRoom: () => rmSync(join(inside, 'ballast')),
      /** Copies the database to a path that SQLite can open. No process may write meanwhile. */
      copyDatabase(): string {
        const copy = join(temporaryFolder(), 'petstore.db')
        for (const suffix of ['', '-wal']) copyFileSync(join(inside, `data/${program}.db${suffix}`), copy + suffix)
        return copy
      },
    }
  }

  return { startOnSmallDisk }
}
