import superjson from 'superjson'
import type { LogEntry } from './log.ts'
import { shellWord } from './quoting.ts'
import { bearerVariable } from './texts.ts'

/** The headers of a logged request but for that with the API key. */
export function headersOf({ body, idempotencyKey }: Pick<LogEntry, 'body' | 'idempotencyKey'>): Record<string, string> {
  return {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  }
}

/** The request as a command. It reads the API key from the environment. */
export function curlTextOf(entry: LogEntry): string {
  const headers = Object.entries(headersOf(entry)).map(([name, value]) => `--header ${shellWord(`${name}: ${value}`)}`)
  const data = entry.body === undefined ? [] : [`--data ${shellWord(entry.body)}`]
  return [`curl ${shellWord(entry.url)}`, `--header ${bearerVariable}`, ...headers, ...data].join(' \\\n  ')
}

/** The input of each procedure. Undefined if it has none. */
export function inputsOf({ url, body, procedures }: LogEntry): { procedure: string; input: unknown }[] {
  const parameters = new URL(url).searchParams
  const sent = JSON.parse(body ?? parameters.get('input') ?? '{}')
  return procedures.map((procedure, index) => {
    const serialized = parameters.has('batch') ? sent[index] : sent
    return { procedure, input: serialized && superjson.deserialize(serialized) }
  })
}

/** A text with a line for each value if it is JSON. */
export function indentedTextOf(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
