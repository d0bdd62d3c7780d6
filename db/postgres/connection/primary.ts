import { setTimeout as wait } from 'node:timers/promises'
import { type Client, type ClientBase, type ClientConfig, DatabaseError } from 'pg'
import { hostOf, type OtherServer, serverUrls, targetSessionAttrs } from '../../location.ts'
import { connectClient } from './connection.ts'
import { NoPrimary } from './failure.ts'

/** Milliseconds for the other servers, after one was found. A server that was replaced may respond before its successor. */
const grace = 250
/** Milliseconds. The clients of a pool have no limit of their own. */
const queryTimeout = 2_000

/** Where a server stands among those that replicate each other. */
export interface Position {
  url: string
  /** Identifies the cluster: a primary and its standbys have the same. */
  system: string
  /** Each promotion begins a new timeline with a greater number. */
  timeline: number
}

interface Session extends Position {
  client: Client
}

/** Whether the service must check which server accepts writes, instead of using the only one that it knows. */
export function needsPrimary(url: string): boolean {
  return targetSessionAttrs(url) !== 'any'
}

/** Opens a connection as {@link findPrimary} does, for work that must stay on one connection. */
export async function connectPrimary(url: string, options?: ClientConfig): Promise<Client> {
  return (await findPrimary(url, options)).client
}

/**
 * Opens a connection to the server that accepts writes, or to the only one that there is. Also returns what is at the other
 * servers.
 *
 * @throws {NoPrimary}
 */
export async function findPrimary(
  url: string,
  options?: ClientConfig,
): Promise<{ url: string; client: Client; others: OtherServer[] }> {
  if (!needsPrimary(url)) return { url, client: await connectClient(url, options), others: [] }
  const { newest, others } = await findNewest(serverUrls(url), options)
  if (!newest) throw new NoPrimary(others)
  return { ...newest, others }
}

/**
 * Asks all servers at the same time. Of those that accept writes, returns a session on the one with the newest timeline.
 *
 * @param known a server that accepted writes before. Those that it has replaced do not count. It wins against an equal one.
 */
export async function findNewest(
  urls: string[],
  options?: ClientConfig,
  known?: Position,
): Promise<{ newest: Session | undefined; others: OtherServer[] }> {
  const [sessions, others]: [Session[], OtherServer[]] = [[], []]
  const first = Promise.withResolvers<void>()
  let isOver = false

  async function open(url: string): Promise<void> {
    try {
      const session = await openSession(url, options)
      if (isOver) return abandon(session.client)
      sessions.push(session)
      if (!reasonAgainst(session, known)) first.resolve()
    } catch (error) {
      if (!isOver) others.push(stateOf(url, error))
    }
  }

  await Promise.race([Promise.all(urls.map(open)), first.promise.then(() => wait(grace, undefined, { ref: false }))])
  isOver = true
  const places = [known?.url, ...urls]
  sessions.sort((a, b) => b.timeline - a.timeline || places.indexOf(a.url) - places.indexOf(b.url))
  const newest = sessions.find((session) => !reasonAgainst(session, known))
  for (const session of sessions) {
    if (session === newest) continue
    abandon(session.client)
    const reason = reasonAgainst(session, newest ?? known) ?? 'it accepts writes, too'
    others.push(stateOf(session.url, new Error(reason)))
  }
  const hosts = urls.map(hostOf)
  return { newest, others: others.toSorted((a, b) => hosts.indexOf(a.host) - hosts.indexOf(b.host)) }
}

/** Why a server that accepts writes must not be used, if another one does so, too. */
export function reasonAgainst(server: Position, known: Position | undefined): string | undefined {
  if (known && server.system !== known.system) return 'it belongs to another database cluster'
  return known && server.timeline < known.timeline ? `${hostOf(known.url)} has replaced it` : undefined
}

async function openSession(url: string, options?: ClientConfig): Promise<Session> {
  const client = await connectClient(url, options)
  try {
    return { client, ...(await locate(client, url)) }
  } catch (error) {
    abandon(client)
    throw error
  }
}

/**
 * Reads where the server of a connection stands.
 *
 * @throws if the server does not accept writes.
 */
export async function locate(client: ClientBase, url: string): Promise<Position> {
  const state = await ask<{ isStandby: boolean; isReadOnly: boolean }>(
    client,
    `SELECT pg_is_in_recovery() AS "isStandby", current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
  )
  if (state?.isStandby) throw new Standby('it is a standby')
  if (state?.isReadOnly && targetSessionAttrs(url) === 'read-write') throw new Error('it is read-only')
  return { url, ...(await readHistory(client)) }
}

class Standby extends Error {}

/** A server that does not tell counts as the only one of its kind. */
async function readHistory(client: ClientBase): Promise<{ system: string; timeline: number }> {
  try {
    const history = await ask<{ system: string; file: string }>(
      client,
      'SELECT system_identifier::text AS system, pg_walfile_name(pg_current_wal_insert_lsn()) AS file FROM pg_control_system()',
    )
    // The first 8 hexadecimal digits of the name of a WAL file are the timeline.
    return { system: history?.system ?? '', timeline: Number.parseInt(history?.file.slice(0, 8) ?? '0', 16) }
  } catch (error) {
    // insufficient_privilege, undefined_function and feature_not_supported
    const isRefused = error instanceof DatabaseError && /^(42501|42883|0A000)$/.test(error.code ?? '')
    if (isRefused) return { system: '', timeline: 0 }
    throw error
  }
}

async function ask<Row extends object>(client: ClientBase, text: string): Promise<Row | undefined> {
  const statement = { text, query_timeout: queryTimeout }
  return (await client.query<Row>(statement)).rows[0]
}

/** What is at a server that cannot be used. */
export function stateOf(url: string, error: unknown): OtherServer {
  if (!(error instanceof Error)) throw error
  const code = 'code' in error ? String(error.code) : ''
  // An error about several addresses of a host has no message.
  return {
    host: hostOf(url),
    mayBecomePrimary: error instanceof Standby || code === '57P03',
    state: error.message || code,
  }
}

/** Closes a connection without waiting for the server, which may not respond. */
export function abandon(client: Client): void {
  client.connection.stream.destroy()
}
