/** The path of an SQLite file, or the URL of a PostgreSQL database. */
export type Location = { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string }

/** Names the database in messages, without the password of its URL. */
export function describeLocation(location: Location): string {
  if (location.kind === 'sqlite') return location.path
  const { protocol, username, pathname } = new URL(serverUrls(location.url)[0] ?? '')
  return `${protocol}//${username && `${username}@`}${serverUrls(location.url).map(hostOf)}${pathname}`
}

/**
 * Splits a PostgreSQL URL with several hosts into a URL for each server. `new URL` refuses the whole one.
 *
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-STRING-URIS-MULTIPLE-HOSTS
 */
export function serverUrls(url: string): string[] {
  const { start, hosts, end } = partsOf(url)
  return hosts.split(',').map((host) => start + host + end)
}

/** The host and the port of a server. */
export function hostOf(serverUrl: string): string {
  return new URL(serverUrl).host
}

/** Changes a PostgreSQL URL in everything except its hosts. */
export function changeUrl(url: string, change: (url: URL) => void): string {
  const changed = new URL(serverUrls(url)[0] ?? '')
  change(changed)
  const { start, end } = partsOf(changed.href)
  return start + partsOf(url).hosts + end
}

/** Which servers the service may use: only those that accept writes, or any. */
export function targetSessionAttrs(url: string): string {
  return new URL(serverUrls(url)[0] ?? '').searchParams.get('target_session_attrs') || 'any'
}

/** What is at a server of the URL that is not used. */
export interface OtherServer {
  host: string
  /** Whether it is a standby, or is starting. */
  mayBecomePrimary: boolean
  /** A clause. */
  state: string
}

function partsOf(url: string): { start: string; hosts: string; end: string } {
  const authority = url.indexOf('//') + 2
  const length = url.slice(authority).search(/[/?#]/)
  const end = length === -1 ? url.length : authority + length
  const hosts = Math.max(authority, url.lastIndexOf('@', end - 1) + 1)
  return { start: url.slice(0, hosts), hosts: url.slice(hosts, end), end: url.slice(end) }
}
