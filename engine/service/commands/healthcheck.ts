import { once } from 'node:events'
import { OperatorError } from '../operator/operator-error.ts'

// An import of it would also load Node's fetch, in each command.
const { get } = process.getBuiltinModule('node:http')

/** Milliseconds. The service itself responds within a second. */
const timeout = 2_500

interface Health {
  url: string
  /** Of the HTTP response. */
  status: number
}

/**
 * Asks the running service whether it is ready.
 *
 * @param origin where it listens, such as `http://127.0.0.1:3000`.
 * @throws {OperatorError} if it is not ready.
 */
export async function checkHealth(origin: string): Promise<Health> {
  const url = `${origin}/readyz`
  const status = await statusOf(url)
  if (status === 200) return { url, status }
  throw new OperatorError(`The service is not ready: ${url} responds ${status}. See its log for the cause.`)
}

export function describeHealth({ url, status }: Health): string {
  return `The service is ready: ${url} responds ${status}.`
}

/** Not with `fetch`, which refuses ports such as 10080. */
async function statusOf(url: string): Promise<number> {
  try {
    const [response] = await once(get(url, { agent: false, signal: AbortSignal.timeout(timeout) }), 'response')
    // Another program may respond without an end.
    response.destroy()
    return response.statusCode
  } catch (error) {
    throw new OperatorError(
      `The service does not respond at ${url} (${causeOf(error)}). Start it, or set HOST and PORT to its address.`,
      { cause: error },
    )
  }
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError') return `no response within ${timeout / 1_000} s`
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
