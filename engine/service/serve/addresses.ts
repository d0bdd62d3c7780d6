import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config.ts'

export interface Address {
  host: string
  port: number
  reusePort: boolean
  variables: { host: string; port: string }
}

type ListenConfig = Pick<Config, 'host' | 'port' | 'reusePort' | 'adminHost' | 'adminPort'>

/** Two processes that share a port have admin ports of their own, because a probe must reach the process that it names. */
export function addressesOf({ host, port, reusePort, adminHost, adminPort }: ListenConfig): [Address, Address?] {
  const service = { host, port, reusePort, variables: { host: 'HOST', port: 'PORT' } }
  if (adminPort === undefined) return [service]
  const variables = { host: 'ADMIN_HOST', port: 'ADMIN_PORT' }
  return [service, { host: adminHost, port: adminPort, reusePort: false, variables }]
}

/** Tries to listen on each address, and stops at once. Resolves to the problems, as {@link listenProblem} describes them. */
export async function findListenProblems(config: ListenConfig): Promise<string[]> {
  const problems: string[] = []
  for (const address of addressesOf(config).filter((each) => each !== undefined)) {
    try {
      await tryToListen(address)
    } catch (error) {
      problems.push(listenProblem(error, address))
    }
  }
  return problems
}

async function tryToListen({ host, port, reusePort }: Address): Promise<void> {
  const probe = createServer()
  probe.listen({ host, port, reusePort })
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
}

/** Why the service cannot listen, and what to do, for the operator. An error that is not from the system is thrown. */
export function listenProblem(error: unknown, { host, port, variables }: Address): string {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? error.code : undefined
  if (code === undefined) throw error
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is taken by another program: stop it, or set ${variables.port} to another one.`,
    EACCES: `Port ${port} needs privileges that this user does not have: set ${variables.port} to 1024 or more.`,
    ENOTSUP: 'This system does not let programs share a port: unset REUSE_PORT.',
  }
  const other = `The service cannot listen on the address ${host}:${port} (${code}): set ${variables.host} to an address of this machine.`
  return messages[String(code)] ?? other
}
