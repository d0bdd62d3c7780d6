/** The path of an SQLite file, or the URL of a PostgreSQL database. */
export type Location = { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string }

/** Names the database in messages, without the password of its URL. */
export function describeLocation(location: Location): string {
  if (location.kind === 'sqlite') return location.path
  const { protocol, username, host, pathname } = new URL(location.url)
  return `${protocol}//${username && `${username}@`}${host}${pathname}`
}
