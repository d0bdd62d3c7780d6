import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Config } from '../config.ts'

export interface Address {
  host: string
  port: number
  reusePort: boolean
  /** What the names of its variables begin with. */
  prefix: '' | 'ADMIN_'
}

type ListenConfig = Pick<Config, 'host' | 'port' | 'reusePort' | 'adminHost' | 'adminPort'>

/** Two processes that share a port have admin ports of their own, because a probe must reach the process that it names. */
export function addressesOf({ host, port, reusePort, adminHost, adminPort }: ListenConfig): [Address, Address?] {
  const service: Address = { host, port, reusePort, prefix: '' }
  if (adminPort === undefined) return [service]
  return [service, { host: adminHost, port: adminPort, reusePort: false, prefix: 'ADMIN_' }]
}

/** Tries to listen on each address, and stops at once. Resolves to the problems, as {@link listenProblem} describes them. */
export async function findListenProblems(config: ListenConfig): Promise<string[]> {
  const problems: string[] = []
  for (const address of addressesOf(config).filter((each) => each !== undefined)) {
    const { host, port, reusePort } = address
    try {
      const probe = createServer().listen({ host, port, reusePort })
      await once(probe, 'listening')
      await once(probe.close(), 'close')
    } catch (error) {
      problems.push(listenProblem(error, address))
    }
  }
  return problems
}

/** Why the service cannot listen, and what to do, for the operator. An error that is not from the system is thrown. */
export function listenProblem(error: unknown, { host, port, prefix }: Address): string {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? error.code : undefined
  if (code === undefined) throw error
  const messages: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is taken by another program: stop it, or set ${prefix}PORT to another one.`,
    EACCES: `Port ${port} needs privileges that this user does not have: set ${prefix}PORT to 1024 or more.`,
    ENOTSUP: 'This system does not let programs share a port: unset REUSE_PORT.',
  }
  const other = `The service cannot listen on the address ${host}:${port} (${code}): set ${prefix}HOST to an address of this machine.`
  return messages[String(code)] ?? other
}
