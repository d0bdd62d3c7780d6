import { stdSerializers } from 'pino'

/** Errors of drivers have further properties, such as the values of a row in the `detail` of PostgreSQL. */
export function serializeError(error: unknown) {
  if (!(error instanceof Error)) return String(error)
  // Pino adds the stacks of the causes.
  const { type, stack } = stdSerializers.err(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return { type, message: error.message, ...(code !== undefined && { code }), stack }
}
