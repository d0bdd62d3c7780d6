import type { Deprecation } from '../api/trpc.ts'
import type { Operation } from './operations.ts'

/** The headers of a deprecated operation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 8288). */
export function deprecationHeaders({ since, sunset, successor }: Deprecation, baseUrl: string): Record<string, string> {
  return {
    deprecation: `@${since.getTime() / 1000}`,
    sunset: sunset.toUTCString(),
    link: `<${baseUrl}${successor}>; rel="successor-version", </docs/>; rel="deprecation"; type="text/html"`,
  }
}

/** Returns the `Link` header of a page, or undefined for the last page. */
type NextLink = (input: Record<string, unknown>, page: unknown) => string | undefined

/**
 * Keyset pagination for operations with the inputs `cursor` and `limit`: a full page links to the page after its last id
 * (RFC 8288). The link keeps the other parameters. Returns undefined for any other operation.
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
