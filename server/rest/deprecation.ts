import type { Deprecation } from '../api/rest-meta.ts'

/** The headers that announce a deprecation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and where to go instead. */
export function deprecationHeaders({ since, sunset, successor }: Deprecation, baseUrl: string): Record<string, string> {
  return {
    deprecation: `@${since.getTime() / 1000}`,
    sunset: sunset.toUTCString(),
    link: `<${baseUrl}${successor}>; rel="successor-version", </docs/>; rel="deprecation"; type="text/html"`,
  }
}
