/** Where the database is. */
export type Location = { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string }

/** For people: never with a password. */
export function describeLocation(location: Location): string {
  if (location.kind === 'sqlite') return location.path
  const { protocol, username, host, pathname } = new URL(location.url)
  return `${protocol}//${username && `${username}@`}${host}${pathname}`
}
