import type { OpenApiMeta } from 'trpc-to-openapi'

/** How a procedure appears on the REST door. */
export interface RestMeta extends OpenApiMeta {
  deprecation?: Deprecation
}

export interface Deprecation {
  /** When it was deprecated (RFC 9745). */
  since: Date
  /** When it is to be removed (RFC 8594). */
  sunset: Date
  /** The path, below the base address, that replaces it. */
  successor: `/${string}`
}
