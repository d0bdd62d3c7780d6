import { spawnSync } from 'node:child_process'

/** Whether this process may mount a file system. */
export function canMount(): boolean {
  return spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0
}

/** A command line that runs a shell script as root of a mount namespace of its own. The script has the words as `"$@"`. */
export function inNamespace(script: string, words: string[]): string[] {
  return ['unshare', '-rm', 'sh', '-ec', script, 'sh', ...words]
}
