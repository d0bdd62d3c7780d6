import { Command } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { addDatabaseCommands } from './database.ts'
import { addKeyCommands } from './keys.ts'
import { addPetCommands } from './pets.ts'
import { addServiceCommands } from './service.ts'

/** The command line of the service. Each file of this folder adds a group of commands, and server/ops does their work. */
export function createProgram(): Command {
  const program = new Command('petstore')
    .description('The pet store service.')
    .version(manifest.version)
    .showHelpAfterError()
  addServiceCommands(program)
  addKeyCommands(program)
  addDatabaseCommands(program)
  addPetCommands(program)
  return program
}
