import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import type { Location } from '../../db/location.ts'
import { startOf } from '../auth/api-key.ts'
import { defaultOf, environment, readConfig, readVariables, type VariableName, variableNames } from '../config.ts'
import { findListenProblems } from '../http/addresses.ts'
import { alignColumns } from '../ops/format.ts'
import { OperatorError } from '../ops/operator-error.ts'
import { addHelp, type JsonOption, jsonOption, printAs } from './output.ts'

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
  const rows = settings.map(({ name, value, source }) => [name, value ?? '-', source])
  return alignColumns([['NAME', 'VALUE', 'SOURCE'], ...rows])
}

/** The effective value of a variable. */
interface Setting {
  name: VariableName
  /** Without secrets. Null if the variable has no value. */
  value: string | null
  /** `file`: the value was read from the file that another variable names. */
  source: 'default' | 'environment' | 'file'
}

/**
 * Lists the effective values. Of an API key only the start is shown, and of a URL no password.
 *
 * @throws {OperatorError} as {@link readConfig} does
 */
export function describeConfig(env = environment): Setting[] {
  const { apiKey, database } = readConfig(env)
  const variables = readVariables(env)
  return variableNames.map((name) => {
    const given = variables[name]
    const source = given === undefined ? 'default' : 'environment'
    if (name === 'DATABASE_URL') return { name, value: urlOf(database), source }
    if (name === 'PETSTORE_API_KEY' && apiKey !== undefined) {
      return { name, value: `${startOf(apiKey)}…`, source: given === undefined ? 'file' : source }
    }
    return { name, value: given ?? defaultOf(name), source }
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
