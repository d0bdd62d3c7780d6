import { environment } from '../config.ts'
import { isJournal, withPriority } from '../systemd/journal.ts'

/** Writes a result to standard output. */
export function print(text: string): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', endWithoutOutput)
  process.stdout.write(`${text}\n`)
}

/** Says nothing if the reader has gone, as in `petstore keys list | head -1`. */
function endWithoutOutput(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') note(`The output cannot be written: ${error.message}`)
  process.exit(1)
}

/** Writes a note, a warning or an error to standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Writes why a command or the service failed. `journalctl --priority=err` finds it. */
export function noteFailure(text: string): void {
  note(isJournal(process.stderr.fd, environment.JOURNAL_STREAM) ? withPriority(text, 3) : text)
}

/** The option of every command that prints a list. */
export const jsonOption = ['--json', 'print JSON'] as const

export interface JsonOption {
  json?: boolean
}

/** Writes a result as JSON if the option asks for it, otherwise as `describe` formats it. */
export function printAs<T>({ json }: JsonOption, value: T, describe: (value: T) => string): void {
  print(json ? JSON.stringify(value, null, 2) : describe(value))
}
