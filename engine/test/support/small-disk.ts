import { spawnSync } from 'node:child_process'
import { copyFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Product } from '../../service/product.ts'
import { runCommand, type Server, whenListening } from './process.ts'
import { temporaryFolder } from './temporary.ts'

/** Whether this process may mount a file system. */
export function canMount(): boolean {
  return spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
}

export interface SmallDisk {
  server: Server
  /** The working folder of the service, as this process reaches it. */
  folder: string
  /** Copies the database to a path that SQLite can open. No process may write meanwhile. */
  copyDatabase: () => string
  /** Fills the disk until this many blocks of 4 KiB are left. */
  fillUp: (blocksLeft: number) => void
  /** Removes the file that fills most of the disk. */
  makeRoom: () => void
}

export function smallDiskTests(product: Product, commandLine: string[]) {
  /** Runs the service with its database on a disk of 8 MiB, of which 6 MiB are in use. */
  async function startOnSmallDisk(): Promise<SmallDisk> {
    const folder = temporaryFolder()
    const script = `
      mount -t tmpfs -o size=8m none ${folder}
      dd if=/dev/zero of=${folder}/ballast bs=1M count=6 status=none
      cd ${folder}
      exec "$@"`
    const run = runCommand(['unshare', '-rm', 'sh', '-ec', script, 'sh', ...commandLine], { env: { PORT: '0' } })
    const server = await whenListening(run)
    // The disk is mounted only in the mount namespace of the service, so its path leads through /proc.
    const inside = join(`/proc/${server.child.pid}/root`, folder)
    return {
      server,
      folder: inside,
      fillUp(blocksLeft) {
        const { bavail, bsize } = statfsSync(inside)
        writeFileSync(join(inside, 'filling'), Buffer.alloc((bavail - blocksLeft) * bsize))
      },
      makeRoom: () => rmSync(join(inside, 'ballast')),
      copyDatabase() {
        const copy = join(temporaryFolder(), `${product.command}.db`)
        for (const suffix of ['', '-wal'])
          copyFileSync(join(inside, `data/${product.command}.db${suffix}`), copy + suffix)
        return copy
      },
    }
  }

  return { startOnSmallDisk }
}
