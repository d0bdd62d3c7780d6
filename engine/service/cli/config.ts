import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import type { Location } from '#store'
import { apiKeyFormat } from '../auth/api-key.ts'
import { environment, readVariables } from '../config.ts'
import { findListenProblems } from '../http/addresses.ts'
import { alignColumns } from '../ops/format.ts'
import { OperatorError } from '../ops/operator-error.ts'
import { addHelp, type Cli } from './cli.ts'
import { type JsonOption, jsonOption, printAs } from './output.ts'

export function addConfigCommands(program: Command, cli: Cli): void {
  const config = program.command('config').description('show and check the configuration')
  addHelp(cli, config, { examples: ['config', 'config check'] })

  const show = config
    .command('show', { isDefault: true })
    .description('show the effective values and their source, without secrets (the default)')
    .option(...jsonOption)
    .action((options: JsonOption) => printAs(options, describeConfig(cli), describeValues))
  addHelp(cli, show, { examples: ['config', 'config show --json'], settings: cli.configuration.settings })

  const check = config
    .command('check')
    .description('check the configuration and set the exit code')
    .option(...jsonOption)
    .action(async (options: JsonOption) => {
      const problems = await findListenProblems(cli.configuration.readConfig())
      // The service itself may have its port.
      const wrong = problems.filter(({ isTaken }) => !isTaken)
      if (wrong.length > 0) throw new OperatorError(wrong.map(({ message }) => message).join('\n'))
      printAs(options, { valid: true }, () => 'The configuration is valid.')
    })
  addHelp(cli, check, { examples: ['$0 config check && $0'], settings: cli.configuration.settings })
}

function describeValues(values: EffectiveValue[]): string {
  const rows = values.map(({ name, value, source }) => [name, value ?? '-', source])
  return alignColumns([['NAME', 'VALUE', 'SOURCE'], ...rows])
}

/** The effective value of a variable. */
interface EffectiveValue {
  name: string
  /** Without secrets. Null if the variable has no value. */
  value: string | null
  /** `file`: the value was read from the file that another variable names. */
  source: 'default' | 'environment' | 'file'
}

/**
 * Lists the effective values. Of an API key only the start is shown, and of a URL no password.
 *
 * @throws {OperatorError} if a variable is wrong
 */
export function describeConfig(
  { product, configuration }: Pick<Cli, 'product' | 'configuration'>,
  env = environment,
): EffectiveValue[] {
  const { settings, nameOf, defaultOf, readConfig } = configuration
  const { apiKey, database } = readConfig(env)
  const all = readVariables(env)
  return settings.map((setting) => {
    const name = nameOf(setting)
    const given = all[name]
    const source = given === undefined ? 'default' : 'environment'
    if (setting === 'databaseUrl') return { name, value: urlOf(database), source }
    if (setting === 'apiKey' && apiKey !== undefined) {
      const start = apiKeyFormat(product.keyPrefix).startOf(apiKey)
      return { name, value: `${start}…`, source: given === undefined ? 'file' : source }
    }
    return { name, value: given ?? defaultOf(setting), source }
  })
}

/** A value that DATABASE_URL accepts. Without its password, a URL of PostgreSQL needs PGPASSWORD. */
function urlOf(location: Location): string {
  if (location.kind === 'sqlite') return pathToFileURL(location.path).href
  const url = new URL(location.url)
  url.password = ''
  for (const name of [...url.searchParams.keys()]) if (/password/i.test(name)) url.searchParams.delete(name)
  return url.href
}
