import { CommanderError } from 'commander'
import { KeyNameTaken, KeyRevoked } from '../db/resources.ts'
import { IdsExhausted, StoreUnavailable } from '../db/store.ts'
import { UnusableDatabase } from '../db/unusable-database.ts'
import { refuseOptionsTakenByNpm } from './cli/npm-options.ts'
import { note } from './cli/output.ts'
import { createProgram } from './cli/program.ts'
import { OperatorError, UsageError } from './ops/operator-error.ts'

try {
  const program = createProgram()
  const words = completed(process.argv.slice(2))
  refuseOptionsTakenByNpm(program, words)
  await program.parseAsync(words, { from: 'user' })
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has written the message, or the help or version that was asked for.
    process.exitCode = error.exitCode === 0 ? 0 : 2
  } else if (isForOperator(error)) {
    note(error.message)
    process.exitCode = error instanceof UsageError ? 2 : 1
  } else throw error
}

/** Adds the default command. Commander's own `help` knows no command of a group, such as `help keys create`. */
function completed([first, ...rest]: string[]): string[] {
  if (first === undefined) return ['serve']
  return first === 'help' ? [...rest, '--help'] : [first, ...rest]
}

function isForOperator(error: unknown): error is Error {
  return [OperatorError, UnusableDatabase, IdsExhausted, KeyNameTaken, KeyRevoked, StoreUnavailable].some(
    (kind) => error instanceof kind,
  )
}
