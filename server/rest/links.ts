import type { Deprecation } from '../api/trpc.ts'
import type { Operation } from './operations.ts'

/** The paths with which links begin. Links in headers have no scheme and host, so they hold for every name of the service. */
export interface LinkPaths {
  /** Of the REST API, such as `/petstore/v1`. */
  apiPath: string
  /** Of the service: empty, or such as `/petstore`. */
  basePath: string
}

/** The headers of a deprecated operation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 8288). */
export function deprecationHeaders(
  { since, sunset, successor }: Deprecation,
  { apiPath, basePath }: LinkPaths,
): Record<string, string> {
  return {
    deprecation: `@${since.getTime() / 1000}`,
    sunset: sunset.toUTCString(),
    link: `<${apiPath}${successor}>; rel="successor-version", <${basePath}/docs/>; rel="deprecation"; type="text/html"`,
  }
}

/** The path of an operation with the parameters of a request. */
export function filledPath({ path }: Operation, input: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_parameter, name: string) => encodeURIComponent(textOf(input[name])))
}

/** A value of an input as a parameter. */
function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value)
}

/** Returns the `Link` header of a page, or undefined for the last page. */
type NextLink = (input: Record<string, unknown>, page: unknown) => string | undefined

/**
 * Keyset pagination for operations with the inputs `cursor` and `limit`: a full page links to the page after its last id
 * (RFC 8288). The link keeps the other parameters. Returns undefined for any other operation.
 */
export function nextLink(operation: Operation, apiPath: string): NextLink | undefined {
  const { cursor, limit } = operation.input.shape
  if (!cursor || !limit) return undefined
  const defaultLimit = limit.parse(undefined)

  return (input, page) => {
    if (!Array.isArray(page) || page.length < Number(input.limit ?? defaultLimit)) return undefined
    const query = { ...input, cursor: page.at(-1).id }
    const pairs = Object.entries(query)
      .filter(([name]) => !operation.path.includes(`{${name}}`))
      .map(([name, value]) => `${name}=${encodeURIComponent(textOf(value))}`)
    return `<${apiPath}${filledPath(operation, input)}?${pairs.join('&')}>; rel="next"`
  }
}
