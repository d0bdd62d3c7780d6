import { KeyNameTaken, StoreUnavailable } from '../store.ts'

/** What is left of an SQLite error once it has crossed from the writer's thread. */
export interface Failure {
  code: string
  message: string
}

export function toFailure(error: unknown): Failure {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'UNKNOWN'
  return { code, message: error instanceof Error ? error.message : String(error) }
}

/** A broken rule of the schema concerns one write; anything else (busy, full, broken) concerns the database. */
export function isConstraint({ code }: Failure): boolean {
  return code.startsWith('SQLITE_CONSTRAINT')
}

/** Puts a failure into the words of the Store port. */
export function storeError(failure: Failure): Error {
  if (failure.code === 'SQLITE_CONSTRAINT_UNIQUE' && failure.message.includes('api_keys.name')) {
    return new KeyNameTaken('An unrevoked API key already has this name: choose another one, or rotate that key.')
  }
  if (failure.code.startsWith('SQLITE_') && !isConstraint(failure)) return new StoreUnavailable(describe(failure))
  return new Error(describe(failure))
}

function describe({ code, message }: Failure): string {
  return `${code}: ${message}`
}
