import type { Command, Option } from 'commander'
import { environment } from '../config.ts'
import { UsageError } from '../ops/operator-error.ts'

/** The scripts of package.json that pass their arguments on to this program. */
const scripts = ['petstore', 'start']

/**
 * Refuses to run if npm has taken an option of the command. Without `--`, `npm run petstore db migrate --dry-run` passes
 * only `db migrate` on, and sets `npm_config_dry_run`. npm sets such a variable for its own configuration files too, so
 * only the options of this command count, and `npx` always works. Of `--key`, and of `--expires` from npm 11.19 on, npm
 * leaves no trace.
 *
 * @throws {UsageError}
 */
export function refuseOptionsTakenByNpm(program: Command, words: string[], env = environment): void {
  if (!scripts.includes(env.npm_lifecycle_event ?? '')) return
  const { path, command } = commandOf(program, words)
  const taken = optionsOf(command).flatMap((option) => {
    const value = env[`npm_config_${option.name().replaceAll('-', '_')}`]
    const isGiven = words.some((word) => word === option.long || word.startsWith(`${option.long}=`))
    return !value || value === 'false' || isGiven ? [] : [{ option, value }]
  })
  if (taken.length === 0) return
  // npm passes the value of `--status sold` on as an argument, so the arguments cannot be told from the values.
  const isValueLost = taken.some(({ option, value }) => takesValue(option) && value === 'true')
  const rest = isValueLost ? ['…'] : words.slice(path.length)
  const options = taken.map(({ option, value }) => {
    if (!takesValue(option)) return option.long
    return value === 'true' ? option.flags : `${option.long} ${value}`
  })
  const names = taken.map(({ option }) => option.long).join(', ')
  const right = ['npx petstore', ...path, ...rest, ...options].join(' ')
  throw new UsageError(
    `Nothing was done, because these options went to npm: ${names}. Use npx, which passes all options on: ${right}`,
  )
}

/** The command that the first words name, without groups' default commands. */
function commandOf(command: Command, words: string[], path: string[] = []): { command: Command; path: string[] } {
  const [word, ...rest] = words
  const below = command.commands.find((each) => each.name() === word)
  return below ? commandOf(below, rest, [...path, below.name()]) : { command, path }
}

/** The options of a command, and those of its subcommands, because one of them may be the default. Each name once. */
function optionsOf(command: Command): Option[] {
  const options = [...command.options, ...command.commands.flatMap(optionsOf)]
  const names = options.map(({ long }) => long)
  return options.filter(({ long }, index) => long !== '--version' && names.indexOf(long) === index)
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}
