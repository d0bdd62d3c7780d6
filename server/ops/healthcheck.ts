import { z } from 'zod'
import { OperatorError } from './operator-error.ts'

/** Milliseconds. The service itself responds within a second. */
const timeout = 2_500
const ErrorBody = z.object({ message: z.string() })

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
  const response = await get(url)
  if (!response.ok) {
    const { data } = ErrorBody.safeParse(response.body)
    const says = data ? ` and says: ${data.message}` : '.'
    throw new OperatorError(
      `The service is not ready: ${url} responds ${response.status}${says} See its log for the cause.`,
    )
  }
  return { url, status: response.status }
}

export function describeHealth({ url, status }: Health): string {
  return `The service is ready: ${url} responds ${status}.`
}

async function get(url: string): Promise<{ ok: boolean; status: number; body: unknown }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeout) })
    const text = await response.text()
    return { ok: response.ok, status: response.status, body: parse(text) }
  } catch (error) {
    throw new OperatorError(
      `The service does not respond at ${url} (${causeOf(error)}). Start it, or set HOST and PORT to its address.`,
      { cause: error },
    )
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `fetch` puts the error of the system into the cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return cause instanceof Error ? cause.message : String(cause)
}
