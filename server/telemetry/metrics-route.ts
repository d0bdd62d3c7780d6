import { Registry } from '@prometheus-io/client'
import type { FastifyInstance } from 'fastify'
import { atMostOnceASecond, type CheckReadiness } from '../http/health.ts'
import { labelRoutes } from '../http/request.ts'
import { handleOtherMethods } from '../http/routing.ts'
import type { Metrics } from './metrics.ts'

interface MetricsOptions {
  metrics: Metrics
  check: CheckReadiness
}

/** Serves the metrics at `/metrics`. */
export async function metricsRoute(app: FastifyInstance, { metrics, check }: MetricsOptions): Promise<void> {
  labelRoutes(app, 'metrics')
  // Collecting takes milliseconds, in which no other request is served.
  const collect = atMostOnceASecond(async () => {
    const isReady = check().then(
      () => true,
      () => false,
    )
    metrics.setReady(await isReady)
    return Buffer.from(await metrics.text())
  })
  app.get('/metrics', async (_request, reply) => reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await collect()))
  handleOtherMethods(app, '/metrics', ['GET', 'HEAD'])
}
