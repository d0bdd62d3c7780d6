import { IdsExhausted, KeyNameTaken, KeyRevoked, StoreUnavailable } from '../db/store.ts'
import { UnusableDatabase } from '../db/unusable-database.ts'
import { note } from './cli/output.ts'
import { createProgram } from './cli/program.ts'
import { OperatorError } from './ops/operator-error.ts'

try {
  await createProgram().parseAsync()
} catch (error) {
  if (!isForOperator(error)) throw error
  note(error.message)
  process.exitCode = 1
}

function isForOperator(error: unknown): error is Error {
  return [OperatorError, UnusableDatabase, IdsExhausted, KeyNameTaken, KeyRevoked, StoreUnavailable].some(
    (kind) => error instanceof kind,
  )
}
