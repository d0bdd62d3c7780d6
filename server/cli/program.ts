import type { AnyRouter } from '@trpc/server'
import { Command, CommanderError } from 'commander'
import type { WithApiKeys } from '../../db/keys/store.ts'
import type { ResourceList } from '../../db/resource-list.ts'
import { type BaseStore, RuleViolation, StoreUnavailable } from '../../db/store.ts'
import { UnusableDatabase } from '../../db/unusable-database.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { About } from '../about.ts'
import { OperatorError, UsageError } from '../ops/operator-error.ts'
import type { Transfer } from '../ops/transfer/resource.ts'
import { addBackupCommands, addRestoreCommand } from './backup.ts'
import { addConfigCommands } from './config.ts'
import { addDatabaseCommands } from './database.ts'
import { addKeyCommands } from './keys.ts'
import { addHelp, noteFailure } from './output.ts'
import { addDoctorCommand, addServiceCommands } from './service.ts'
import { addSeedCommand, addTransferCommands } from './transfer.ts'

interface Service<Stores extends WithApiKeys> {
  about: About
  resources: ResourceList<Stores>
  router: AnyRouter
  /** Of the resources that can be exported, imported and made up. */
  transfers: Transfer<BaseStore & Stores, unknown>[]
}

/** Runs the command of the arguments of the process. */
export async function run<Stores extends WithApiKeys>(service: Service<Stores>): Promise<void> {
  try {
    const program = createProgram(service)
    const [first = 'serve', ...rest] = process.argv.slice(2)
    // Commander's own `help` knows no command of a group, such as `help keys create`.
    const words = first === 'help' ? [...rest, '--help'] : [first, ...rest]
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has written the message, or the help or version that was asked for.
      process.exitCode = error.exitCode === 0 ? 0 : 2
    } else if (isForOperator(error)) {
      noteFailure(error.message)
      process.exitCode = error instanceof UsageError ? 2 : 1
    } else throw error
  }
}

function isForOperator(error: unknown): error is Error {
  return [OperatorError, UnusableDatabase, RuleViolation, StoreUnavailable].some((kind) => error instanceof kind)
}

/**
 * The command line of a service (https://clig.dev). Each file of this folder adds a group of commands, and server/ops
 * does their work.
 */
export function createProgram<Stores extends WithApiKeys>(service: Service<Stores>): Command {
  const { about, resources, router, transfers } = service
  const program = new Command('petstore')
    .description(`${about.summary} Without a command, it serves.`)
    .version(manifest.version)
    .showHelpAfterError('Add --help to see the usage and examples.')
    // Throws instead of ending the process, which would cut off output to a pipe.
    .exitOverride()
  addHelp(program, {
    examples: ['petstore', 'petstore doctor', 'petstore keys create shop', 'petstore keys create --help'],
  })
  addServiceCommands(program, about, resources, router)
  addConfigCommands(program)
  addDoctorCommand(program, resources)
  addKeyCommands(program, resources)
  addBackupCommands(program, resources)
  addRestoreCommand(program, resources)
  addDatabaseCommands(program, resources)
  for (const transfer of transfers) addTransferCommands(program, resources, transfer)
  addSeedCommand(program, resources, transfers)
  return program
}
