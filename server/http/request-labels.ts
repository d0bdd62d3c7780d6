import type { FastifyInstance, FastifyRequest } from 'fastify'

/** What a request asks for, for metrics. The values are constants of the code and never text of the caller. */
export interface RequestLabels {
  adapter: 'rest' | 'rpc' | 'http'
  /** The name of the procedure, for both adapters. */
  operation: string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The labels of a route. Routes with the same labels share one object, or have one each. */
    labels?: RequestLabels | ((request: FastifyRequest) => RequestLabels)
    /** The procedures that a batch calls, for the log. A name that no procedure has is `unknown`. */
    procedures?: (request: FastifyRequest) => string[]
  }
}

/** Of paths without a route, and of URLs that cannot be decoded. */
export const unknownRequest: RequestLabels = { adapter: 'http', operation: 'unknown' }
/** Of OPTIONS, and of methods that a path does not serve. */
export const otherMethod: RequestLabels = { adapter: 'http', operation: 'other_method' }

/** Health checks and scrapes arrive every few seconds. They are not traced, and logged only if they are rejected. */
export function isProbe({ operation }: RequestLabels): boolean {
  return operation === 'health' || operation === 'metrics'
}

export function labelsOf(request: FastifyRequest): RequestLabels {
  const { labels = unknownRequest } = request.routeOptions.config
  return typeof labels === 'function' ? labels(request) : labels
}

/** Labels the routes of this Fastify instance that have no labels of their own. */
export function labelRoutes(app: FastifyInstance, operation: string): void {
  const labels: RequestLabels = { adapter: 'http', operation }
  app.addHook('onRoute', (route) => {
    route.config = { labels, ...route.config }
  })
}
