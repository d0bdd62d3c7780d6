import type { Command } from 'commander'
import { readConfig, variableNames } from '../config.ts'
import { findListenProblems } from '../http/addresses.ts'
import { OperatorError } from '../ops/operator-error.ts'
import { alignColumns } from '../ops/table.ts'
import { addHelp } from './help.ts'
import { type JsonOption, jsonOption, printAs } from './output.ts'
import { describeConfig, type Setting } from './settings.ts'

export function addConfigCommands(program: Command): void {
  const config = program.command('config').description('show and check the configuration')
  addHelp(config, { examples: ['petstore config', 'petstore config check'] })

  const show = config
    .command('show', { isDefault: true })
    .description('show the effective values and their source, without secrets (the default)')
    .option(...jsonOption)
    .action((options: JsonOption) => printAs(options, describeConfig(), describeSettings))
  addHelp(show, { examples: ['petstore config', 'petstore config show --json'], variables: variableNames })

  const check = config
    .command('check')
    .description('check the configuration and set the exit code')
    .option(...jsonOption)
    .action(async (options: JsonOption) => {
      const problems = await findListenProblems(readConfig())
      // The service itself may have its port.
      const wrong = problems.filter(({ isTaken }) => !isTaken)
      if (wrong.length > 0) throw new OperatorError(wrong.map(({ message }) => message).join('\n'))
      printAs(options, { valid: true }, () => 'The configuration is valid.')
    })
  addHelp(check, { examples: ['petstore config check && petstore'], variables: variableNames })
}

function describeSettings(settings: Setting[]): string {
  return alignColumns([
    ['NAME', 'VALUE', 'SOURCE'],
    ...settings.map(({ name, value, source }) => [name, value ?? '-', source]),
  ])
}
