import { z } from 'zod'
import { OperatorError } from './operator-error.ts'

/** Milliseconds. The service itself responds within a second. */
const timeout = 2_500
/** Characters. The body of an error of the service is shorter. */
const maxLength = 10_000
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
  const { ok, status, text } = await get(url)
  if (ok) return { url, status }
  let says = '.'
  try {
    says = ` and says: ${ErrorBody.parse(JSON.parse(text)).message}`
  } catch {
    // Another program responds.
  }
  throw new OperatorError(`The service is not ready: ${url} responds ${status}${says} See its log for the cause.`)
}

export function describeHealth({ url, status }: Health): string {
  return `The service is ready: ${url} responds ${status}.`
}

async function get(url: string): Promise<{ ok: boolean; status: number; text: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeout) })
    return { ok: response.ok, status: response.status, text: await beginningOf(response) }
  } catch (error) {
    throw new OperatorError(
      `The service does not respond at ${url} (${causeOf(error)}). Start it, or set HOST and PORT to its address.`,
      { cause: error },
    )
  }
}

/** Another program may send more than fits into memory. */
async function beginningOf({ body }: Response): Promise<string> {
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.length > maxLength) break
  }
  return text
}

/** `fetch` puts the error of the system into the cause. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return cause instanceof Error ? cause.message : String(cause)
}
