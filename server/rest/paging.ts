import type { Operation } from './operations.ts'

/** Makes the `Link` header (RFC 8288) for a page, or undefined for the last one. */
export type NextLink = (input: Record<string, unknown>, page: unknown) => string | undefined

/**
 * Keyset paging, for operations that take a `cursor` and a `limit`: a full page links to the page after its last id,
 * with the other parameters kept as they were.
 */
export function nextLink({ input: { shape }, path }: Operation, baseUrl: string): NextLink | undefined {
  const { cursor, limit } = shape
  if (!cursor || !limit) return undefined
  const defaultLimit = limit.parse(undefined)

  return (input, page) => {
    if (!Array.isArray(page) || page.length < Number(input.limit ?? defaultLimit)) return undefined
    const query = { ...input, cursor: page.at(-1).id }
    const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    return `<${baseUrl}${path}?${pairs.join('&')}>; rel="next"`
  }
}
