import { Command } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { misspelledVariables } from '../config.ts'
import { petTransfer } from '../pets/transfer.ts'
import { addConfigCommands } from './config.ts'
import { addDatabaseCommands } from './database.ts'
import { addDoctorCommand } from './doctor.ts'
import { addHelp } from './help.ts'
import { addKeyCommands } from './keys.ts'
import { note } from './output.ts'
import { addServiceCommands } from './service.ts'
import { addSeedCommand, addTransferCommands } from './transfer.ts'

/**
 * The command line of the service (https://clig.dev). Each file of this folder adds a group of commands, and server/ops
 * does their work.
 */
export function createProgram(): Command {
  const program = new Command('petstore')
    .description('The pet store service. Without a command, it serves.')
    .version(manifest.version)
    .showHelpAfterError('Add --help to see the usage and examples.')
    // Throws instead of ending the process, which would cut off output to a pipe.
    .exitOverride()
    .hook('preAction', (_program, command) => {
      // The service logs these warnings, and the doctor lists them.
      if (!['serve', 'doctor'].includes(command.name())) for (const warning of misspelledVariables()) note(warning)
    })
  addHelp(program, {
    examples: ['petstore', 'petstore doctor', 'petstore keys create shop', 'petstore keys create --help'],
  })
  addServiceCommands(program)
  addConfigCommands(program)
  addDoctorCommand(program)
  addKeyCommands(program)
  addDatabaseCommands(program)
  addTransferCommands(program, petTransfer)
  addSeedCommand(program, petTransfer)
  return program
}
