import { Command, CommanderError } from 'commander'
import type { z } from 'zod'
import { LostDatabase, RuleViolation, StoreUnavailable, UnusableDatabase, type WithApiKeys } from '#store'
import { configurationOf } from '../config.ts'
import { OperatorError, UsageError } from '../operator/operator-error.ts'
import type { Matching, Service } from '../service.ts'
import { addBackupCommands, addRestoreCommand } from './backup.ts'
import { type Cli, withHelp } from './cli.ts'
import { addDatabaseCommands } from './database.ts'
import { addKeyCommands } from './keys.ts'
import { noteFailure, writeError, writeOutput } from './output.ts'
import { addDoctorCommand, addServiceCommands } from './service.ts'
import { addFileCommands } from './transfer.ts'

/** Runs the command of the arguments of the process. */
export async function run<Stores extends WithApiKeys, Settings extends z.ZodObject, Dependencies>(
  service: Matching<Stores, Settings, Dependencies>,
): Promise<void> {
  try {
    const program = createProgram(service)
    const [first = 'serve', ...rest] = process.argv.slice(2)
    // Commander's own `help` knows no command of a group, such as `help keys create`.
    const words = first === 'help' ? [...rest, '--help'] : [first === 'version' ? '--version' : first, ...rest]
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has written the message, or the help or version that was asked for.
      process.exitCode = error.exitCode === 0 ? 0 : 2
    } else if (isForOperator(error)) {
      noteFailure(error.message)
      process.exitCode = error instanceof UsageError ? 2 : error instanceof LostDatabase ? noInput : 1
    } else throw error
  }
}

/** EX_NOINPUT of sysexits(3). It tells a supervisor not to restart the service. */
const noInput = 66

function isForOperator(error: unknown): error is Error {
  return [OperatorError, UnusableDatabase, RuleViolation, StoreUnavailable].some((kind) => error instanceof kind)
}

/** The command line of a service (https://clig.dev). Each subject of this folder adds a group of commands. */
export function createProgram<Stores extends WithApiKeys>(service: Service<Stores>): Command {
  const { product, settings, store: definition, transfer } = service
  const cli: Cli<Stores> = { product, configuration: configurationOf(product, settings), definition }
  const description = `${product.description} Without a command, it serves.`
  const examples = ['', 'doctor', 'keys create shop', 'keys create --help']
  const program = withHelp(cli, new Command(product.command), description, examples)
    .version(product.version, '-v, --version')
    .showHelpAfterError('Add --help to see the usage and examples.')
    .configureHelp({ sortOptions: true })
    .configureOutput({ writeOut: (text) => writeOutput(text), writeErr: writeError })
    // Throws instead of ending the process, which would cut off output to a pipe.
    .exitOverride()
  addServiceCommands(program, cli, service)
  addDoctorCommand(program, cli)
  addKeyCommands(program, cli)
  addBackupCommands(program, cli)
  addRestoreCommand(program, cli)
  addDatabaseCommands(program, cli)
  for (const resource of transfer) addFileCommands(program, cli, resource, service.router)
  return program
}
