import { Registry } from '@prometheus-io/client'
import type { FastifyInstance } from 'fastify'
import { atMostOnceASecond, type CheckReadiness } from '../http/health.ts'
import { labelRoutes } from '../http/request-labels.ts'
import { handleOtherMethods } from '../http/routing.ts'
import type { Metrics } from './metrics.ts'

interface MetricsOptions {
  metrics: Metrics
  check: CheckReadiness
}

/** Serves the metrics at `/metrics`, in the format of OpenMetrics to scrapers that prefer it. */
export async function metricsRoute(app: FastifyInstance, { metrics, check }: MetricsOptions): Promise<void> {
  labelRoutes(app, 'metrics')
  // Collecting takes milliseconds, in which no other request is served.
  const collect = atMostOnceASecond(async () => {
    const isReady = check().then(
      () => true,
      () => false,
    )
    metrics.setReady(await isReady)
    const text = await metrics.text()
    return { plain: Buffer.from(toPlainText(text)), openMetrics: Buffer.from(text) }
  })
  app.get('/metrics', async (request, reply) => {
    const { plain, openMetrics } = await collect()
    reply.header('vary', 'accept')
    return prefersOpenMetrics(request.headers.accept ?? '')
      ? reply.type(Registry.OPENMETRICS_CONTENT_TYPE).send(openMetrics)
      : reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(plain)
  })
  handleOtherMethods(app, '/metrics', ['GET', 'HEAD'])
}

/** Compares the qualities of the two formats (RFC 9110, section 12.5.1). A wildcard means the plain format. */
function prefersOpenMetrics(accept: string): boolean {
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? '1'
    return { type, quality: Number(quality) }
  })
  const qualityOf = (type: string) =>
    Math.max(0, ...ranges.filter((range) => range.type === type).map((r) => r.quality))
  const quality = qualityOf('application/openmetrics-text')
  return quality > 0 && quality >= qualityOf('text/plain')
}

/**
 * Converts the text format of OpenMetrics to that of Prometheus, version 0.0.4, which has no exemplars and in which the
 * family of a counter ends with `_total`. The library can write it too, but renames the counters of a registry when it
 * writes OpenMetrics, so a registry serves only one format.
 */
function toPlainText(text: string): string {
  // Only a sample has an exemplar, and no label has a value with " # ".
  const lines = text.split('\n').map((line) => (line.startsWith('#') ? line : line.split(' # ', 1).join()))
  return lines
    .join('\n')
    .replaceAll(/^# HELP (\w+) (.*)\n# TYPE \1 counter$/gm, '# HELP $1_total $2\n# TYPE $1_total counter')
    .replace('# EOF\n', '')
}
