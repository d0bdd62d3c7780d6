import type { Command } from 'commander'
import { describeVariable, type VariableName } from '../config.ts'
import { alignColumns } from '../ops/table.ts'

interface HelpDetails {
  /** Complete command lines. */
  examples: string[]
  /** The variables of the environment that the command reads. */
  variables?: readonly VariableName[]
}

/** Adds examples and variables of the environment to the help of a command. */
export function addHelp(command: Command, { examples, variables = [] }: HelpDetails): void {
  const blocks = [
    ['Examples:', ...examples.map((example) => `  $ ${example}`)],
    variables.length > 0 ? ['Environment variables:', tableOf(variables)] : [],
  ]
  const text = blocks.filter((block) => block.length > 0).map((block) => block.join('\n'))
  command.addHelpText('after', `\n${text.join('\n\n')}`)
}

function tableOf(variables: readonly VariableName[]): string {
  return alignColumns(variables.map((name) => [`  ${name}`, describeVariable(name)]))
}
