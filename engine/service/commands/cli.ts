import type { Command } from 'commander'
import type { StoreDefinition } from '#store'
import type { Configuration } from '../config.ts'
import { alignColumns } from '../operator/format.ts'
import type { Product } from '../product.ts'

export interface Cli<Stores = unknown> {
  product: Product
  configuration: Configuration
  definition: StoreDefinition<Stores>
}

/**
 * Adds a description, examples and variables of the environment to the help of a command, and returns the command. An
 * example is the arguments of the command. A line with more than the command has `$0` in its place.
 */
export function withHelp(
  { product, configuration }: Pick<Cli, 'product' | 'configuration'>,
  command: Command,
  description: string,
  examples: string[],
  settings: readonly string[] = [],
): Command {
  const lines = examples.map((example) => (example.includes('$0') ? example : `$0 ${example}`.trimEnd()))
  const table = settings.map((name) => [`  ${configuration.variableOf(name)}`, configuration.describe(name)])
  const blocks = [
    ['Examples:', ...lines.map((line) => `  $ ${line.replaceAll('$0', product.command)}`)],
    table.length > 0 ? ['Environment variables:', alignColumns(table)] : [],
  ]
  const text = blocks.filter((block) => block.length > 0).map((block) => block.join('\n'))
  return command.description(description).addHelpText('after', `\n${text.join('\n\n')}`)
}

/** Adds a command whose result can be printed as JSON. By default it reads the location of the database. */
export function addCommand(
  cli: Pick<Cli, 'product' | 'configuration'>,
  parent: Command,
  usage: string,
  description: string,
  examples: string[],
  settings: readonly string[] = ['databaseUrl'],
): Command {
  return withHelp(cli, parent.command(usage), description, examples, settings).option('--json', 'print JSON')
}
