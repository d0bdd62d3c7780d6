import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { canTrace } from '../../engine/test/support/traced.ts'
import { read } from '../support/documents.ts'
import { startTraced } from '../support/petstore.ts'

// Only systemd itself knows which system calls its groups contain.
if (spawnSync('systemd-analyze', ['--version']).status === 0 && canTrace()) {
  test('the systemd unit permits every system call of the service', async () => {
    const { server, key, log, stop } = await startTraced(() => [], { HOST: '0.0.0.0', BACKUP_EVERY: '1s' })
    const response = await fetch(`${server.url}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Rex', categoryId: 7 }),
    })
    expect(response.status).toBe(201)
    await expect.poll(log).toContain('database.backup')
    const used = new Set(
      [...readFileSync(await stop(), 'utf8').matchAll(/^\d+ +([a-z]\w*)\(/gm)].map(([, name = '']) => name),
    )
    expect(used).toContain('fsync')
    expect(used).toContain('setpriority')
    const permitted = permittedCalls()
    // As root, which the unit is not, SQLite gives its new files to the owner of the database.
    if (process.getuid?.() === 0) permitted.add('fchown')
    expect([...used].filter((name) => !permitted.has(name))).toEqual([])
  })
}

/** The system calls that the filters of the unit leave. */
function permittedCalls(): Set<string> {
  const filters = [...read('deploy/petstore.service').matchAll(/^SystemCallFilter=(~?)(@\S+)$/gm)]
  return filters.reduce((calls, [, isRefused, group = '']) => {
    const named = callsOf(group)
    return isRefused ? calls.difference(named) : calls.union(named)
  }, new Set<string>())
}

/** The system calls of a group, and of the groups in it. */
function callsOf(group: string): Set<string> {
  const text = execFileSync('systemd-analyze', ['syscall-filter', group], { encoding: 'utf8' })
  const entries = text.split('\n').flatMap((line) => /^ {4}(@?[\w-]+)$/.exec(line)?.[1] ?? [])
  return entries.reduce(
    (calls, entry) => calls.union(entry.startsWith('@') ? callsOf(entry) : new Set([entry])),
    new Set<string>(),
  )
}
