import { OperatorError } from './operator-error.ts'

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
  const { ok, status } = await get(url)
  if (ok) return { url, status }
  throw new OperatorError(`The service is not ready: ${url} responds ${status}. See its log for the cause.`)
}

export function describeHealth({ url, status }: Health): string {
  return `The service is ready: ${url} responds ${status}.`
}

async function get(url: string): Promise<Response> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeout) })
    // Another program may respond without an end.
    await response.body?.cancel()
    return response
  } catch (error) {
    throw new OperatorError(
      `The service does not respond at ${url} (${causeOf(error)}). Start it, or set HOST and PORT to its address.`,
      { cause: error },
    )
  }
}

/** `fetch` puts the error of the system into the cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return cause instanceof Error ? cause.message : String(cause)
}
