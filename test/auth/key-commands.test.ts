import { expect, test } from 'vitest'
import { mintApiKey } from '../../server/auth/api-key.ts'
import { databaseNameOf } from '../support/database.ts'
import { bannerKey, runPetstore, startServer, waitForOutput } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary.ts'

test('keys create, keys rotate and keys revoke act at once on the running service', async () => {
  const folder = temporaryFolder()
  const server = await startServer({ folder })
  const first = await waitForOutput(server, bannerKey)
  const created = await printKey(folder, ['keys', 'create', 'shop'])
  expect(created.stderr).toBe('')
  expect(await statusOf(server.url, created.key)).toBe(200)

  const { key: second } = await printKey(folder, ['keys', 'rotate', 'first'])
  expect([await statusOf(server.url, first), await statusOf(server.url, second)]).toEqual([401, 200])
  const revoke = runPetstore({ folder, arguments: ['keys', 'revoke', 'first'] })
  expect(await revoke.ended).toBe(0)
  expect(revoke.stderr).toBe(`Revoked first (${second.slice(0, 10)}…).\n`)
  expect(await statusOf(server.url, second)).toBe(401)
})

test('keys list shows every key and no secret', async () => {
  const folder = temporaryFolder()
  const { key, stderr } = await printKey(folder, ['keys', 'create', 'shop', '--expires', '90d'])
  expect(stderr).toBe(`Created the database ${databaseNameOf(folder)}.\n`)
  const list = runPetstore({ folder, arguments: ['keys', 'list'] })
  expect(await list.ended).toBe(0)
  expect(list.stdout).toMatch(/^NAME +START +CREATED +EXPIRES +REVOKED +LAST USED\nshop +pet_\w{6}… +\S+ +\S+ +- +-\n$/)
  expect(list.stdout).not.toContain(key)
})

test('keys revoke and keys rotate fail for a name that does not exist', async () => {
  const folder = temporaryFolder()
  await printKey(folder, ['keys', 'create', 'shop'])
  const runs = ['revoke', 'rotate'].map((command) => runPetstore({ folder, arguments: ['keys', command, 'nobody'] }))
  for (const run of runs) {
    expect(await run.ended).toBe(1)
    expect(run.stderr).toContain('No unrevoked API key is named nobody')
  }
})

test('an invalid command prints one message, and its exit code is 1', async () => {
  const commands = [
    [['keys', 'create', 'shop', '--expires', 'soon'], 'soon is not a lifetime'],
    [['keys', 'create', 'pet_shop'], 'Name the key with'],
    [['keys', 'create'], "missing required argument 'name'"],
    [['keys', 'burn'], "unknown command 'burn'"],
    [['kes'], "unknown command 'kes'"],
    [['serve', '--fast'], "unknown option '--fast'"],
  ] as const
  const folder = temporaryFolder()
  const runs = commands.map(([command]) => runPetstore({ folder, arguments: [...command] }))
  for (const [index, [command, message]] of commands.entries()) {
    const run = runs[index]
    expect(await run?.ended, command.join(' ')).toBe(1)
    expect(run?.stderr).toContain(message)
    expect(run?.stderr).not.toMatch(/^\s+at /m)
    expect(run?.stdout).toBe('')
  }
})

test('PETSTORE_API_KEY is registered at the start instead of a first key, and stays revoked after a restart', async () => {
  const [folder, key] = [temporaryFolder(), mintApiKey()]
  const env = { PETSTORE_API_KEY: key }
  const first = await startServer({ folder, env })
  expect(await statusOf(first.url, key)).toBe(200)
  expect(first.stdout).not.toMatch(bannerKey)
  // Unlike SIGTERM, SIGINT stops without draining.
  first.child.kill('SIGINT')
  await first.ended
  expect(await runPetstore({ folder, arguments: ['keys', 'revoke', key] }).ended).toBe(0)
  const second = await startServer({ folder, env })
  expect(await statusOf(second.url, key)).toBe(401)
})

/** Runs a command that prints a key and nothing else on standard output. */
async function printKey(folder: string, command: string[]): Promise<{ key: string; stderr: string }> {
  const run = runPetstore({ folder, arguments: command })
  expect(await run.ended, run.stderr).toBe(0)
  expect(run.stdout).toMatch(/^pet_[0-9A-Za-z]{38}\n$/)
  return { key: run.stdout.trim(), stderr: run.stderr }
}

async function statusOf(url: string, key: string): Promise<number> {
  return (await fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status
}
