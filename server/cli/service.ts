import type { Command } from 'commander'
import { readConfig } from '../config.ts'

export function addServiceCommands(program: Command): void {
  program
    .command('serve', { isDefault: true })
    .description('serve REST and typed RPC until stopped (the default)')
    .allowExcessArguments()
    .action(async (_options, { args: [unknown] }: Command) => {
      if (unknown !== undefined) program.error(`error: unknown command '${unknown}'`)
      // Loaded here, because the other commands start faster and use less memory without it.
      const { serve } = await import('../serve.ts')
      await serve(readConfig())
    })
}
