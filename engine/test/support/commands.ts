import type { Command } from 'commander'

interface NamedCommand {
  /** That name it, such as `keys` and `list`. */
  words: string[]
  command: Command
}

/** Every command that has an action. `backup` has one, and a subcommand. */
export function commandsOf(command: Command, words: string[] = []): NamedCommand[] {
  const below = command.commands.flatMap((each) => commandsOf(each, [...words, each.name()]))
  const isGroup = below.length > 0 && command.registeredArguments.length === 0
  return isGroup ? below : [{ words, command }, ...below]
}
