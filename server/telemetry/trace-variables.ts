import { z } from 'zod'

/** OpenTelemetry's variables (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). */

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export const HttpUrl = z.url({ protocol: /^https?$/, error: 'expected an http or https URL' })

export const Ratio = z
  .string()
  .regex(/^(0|1|0?\.\d{1,9}|1\.0{1,9})$/, 'expected a number from 0 to 1')
  .transform(Number)

const BaseUrl = HttpUrl.transform((url) => url.replace(/\/+$/, '')).refine(
  (url) => !/\/v1(\/traces)?$/.test(url),
  'expected a URL without /v1/traces, which is added. OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is used as it is',
)

const Milliseconds = z
  .string()
  .regex(/^[1-9]\d{0,5}$/, 'expected a number of milliseconds from 1 to 999999')
  .transform(Number)

const Protocol = oneOf('http/protobuf', 'http/json')

/** What the exporter would cut off or Node would not send is refused. The values may be secrets: the message has none. */
const Headers = pairs(
  (name, value, raw) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[ -~]+$/.test(value) && !raw.includes(';'),
  'expected headers such as api-key=secret, separated by commas, with commas and semicolons in them percent-encoded',
)

const Attributes = pairs(
  (name, value, raw) => name !== '' && Math.max(name.length, value.length) <= 255 && raw.split('=').length === 2,
  'expected attributes such as deployment.environment.name=staging, separated by commas, with commas and equals signs in them percent-encoded, of at most 255 characters',
)

export const traceVariables = z.object({
  OTEL_SDK_DISABLED: z
    .stringbool({ truthy: ['true'], falsy: ['false'], error: 'expected true or false' })
    .default(false)
    .describe('whether to trace nothing'),
  OTEL_TRACES_EXPORTER: oneOf('otlp', 'console', 'none')
    .optional()
    .describe('where traces go: otlp, console or none; by default otlp if there is an endpoint'),
  OTEL_EXPORTER_OTLP_ENDPOINT: BaseUrl.optional().describe('the collector of traces, such as http://127.0.0.1:4318'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: HttpUrl.optional().describe('the same as a whole URL, to which nothing is added'),
  OTEL_EXPORTER_OTLP_PROTOCOL: Protocol.default('http/protobuf').describe('http/protobuf or http/json'),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: Protocol.optional().describe('the same, only for traces'),
  OTEL_EXPORTER_OTLP_TIMEOUT: Milliseconds.prefault('10000').describe(
    'milliseconds for an export with all its attempts',
  ),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: Milliseconds.optional().describe('the same, only for traces'),
  OTEL_EXPORTER_OTLP_HEADERS: Headers.optional().describe('headers for the collector, such as api-key=secret'),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: Headers.optional().describe('further ones, only for traces'),
  OTEL_SERVICE_NAME: z.string().default('petstore').describe('the name of the service in traces'),
  OTEL_RESOURCE_ATTRIBUTES: Attributes.optional().describe('attributes of the service in traces, such as key=value'),
  OTEL_TRACES_SAMPLER: oneOf(...samplers)
    .default('parentbased_traceidratio')
    .describe('which requests to trace'),
  OTEL_TRACES_SAMPLER_ARG: Ratio.prefault('1').describe('the share of requests to trace, from 0 to 1'),
})

export interface TracingOptions {
  exporter: 'otlp' | 'console'
  url: string
  protocol: z.infer<typeof Protocol>
  /** Milliseconds for an export with all its attempts. */
  timeout: number
  sampler: (typeof samplers)[number]
  /** Share of the traces that start here, from 0 to 1. */
  sampleRatio: number
}

/** Undefined if nothing is traced. The exporter reads the headers, and the resource its attributes, from the environment. */
export function tracingOptions(env: z.infer<typeof traceVariables>): TracingOptions | undefined {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base && `${base}/v1/traces`)
  // By default the specification sends traces to localhost. Without a collector, each export would fail.
  const exporter = env.OTEL_TRACES_EXPORTER ?? (url === undefined ? 'none' : 'otlp')
  if (env.OTEL_SDK_DISABLED || exporter === 'none') return undefined
  return {
    exporter,
    url: url ?? 'http://localhost:4318/v1/traces',
    protocol: env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL,
    timeout: env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? env.OTEL_EXPORTER_OTLP_TIMEOUT,
    sampler: env.OTEL_TRACES_SAMPLER,
    sampleRatio: env.OTEL_TRACES_SAMPLER_ARG,
  }
}

function oneOf<const T extends readonly string[]>(...values: T) {
  return z.enum(values, `expected one of ${values.join(', ')}`)
}

/** Accepts what OpenTelemetry's parsers read. They ignore anything else without an error. */
function pairs(isValid: (name: string, value: string, raw: string) => boolean, problem: string) {
  return z.string().refine((text) => {
    const parts = text.split(',').filter((part) => part.trim() !== '')
    return parts.every((raw) => {
      const [name = '', ...value] = raw.split('=')
      const decoded = decode([name.trim(), value.join('=').trim()])
      return value.length > 0 && decoded !== undefined && isValid(decoded[0] ?? '', decoded[1] ?? '', raw)
    })
  }, problem)
}

function decode(texts: string[]): string[] | undefined {
  try {
    return texts.map(decodeURIComponent)
  } catch {
    return undefined
  }
}
