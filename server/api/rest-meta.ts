import type { OpenApiMeta } from 'trpc-to-openapi'

/** Describes a procedure to the REST adapter. */
export interface RestMeta extends OpenApiMeta {
  deprecation?: Deprecation
}

export interface Deprecation {
  /** The date of the deprecation (RFC 9745). */
  since: Date
  /** The date from which the operation may be removed (RFC 8594). */
  sunset: Date
  /** The path of the replacement, relative to the base address. */
  successor: `/${string}`
}
