/** What the router says about a procedure: its type and, if the REST API has it, its method and path. */
export interface Procedure {
  type: 'query' | 'mutation' | 'subscription'
  method?: string
  /** Relative to `/v1`, with parameters in braces. */
  path?: string
}

/** The procedures of the service by their names. The build replaces this name: see `consoleConfig`. */
declare const SERVICE_PROCEDURES: Readonly<Record<string, Procedure>>

export const procedures = SERVICE_PROCEDURES
