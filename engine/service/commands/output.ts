import { createInterface } from 'node:readline/promises'
import { writeJson } from '../api/literals.ts'
import { environment } from '../config.ts'
import { OperatorError, UsageError } from '../operator/operator-error.ts'
import { isJournal, withPriority } from '../telemetry/log-output.ts'

export function print(text: string): void {
  writeOutput(`${text}\n`)
}

export function writeOutput(text: string): void {
  watchOutput()
  process.stdout.write(text)
}

const watched = new WeakSet<NodeJS.WriteStream>()

/**
 * Ends the process if standard output cannot be written. If only the reader has gone, as of `keys list | head -1`, it says
 * nothing, unless the first call had a remedy: a sentence that says what to do.
 */
export function watchOutput(remedy = ''): void {
  // `listenerCount` does not tell: the pipe of a worker thread adds a listener that throws.
  if (watched.has(process.stdout)) return
  watched.add(process.stdout)
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' || remedy) note(`The output cannot be written: ${error.message}. ${remedy}`.trim())
    process.exit(1)
  })
}

/** Writes a note, a warning or an error to standard error. */
export function note(text: string): void {
  writeError(`${text}\n`)
}

/** Like {@link note}, without a line end. Its errors are ignored: the exit code reports the failure. */
export function writeError(text: string): void {
  if (!watched.has(process.stderr)) process.stderr.on('error', () => {})
  watched.add(process.stderr)
  process.stderr.write(text)
}

/** Asks a question if a person can answer it. Any answer but yes throws an {@link OperatorError}. */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError('Nothing was changed.')
}

/** Writes why a command or the service failed. `journalctl --priority=err` finds it. */
export function noteFailure(text: string): void {
  note(isJournal(process.stderr.fd, environment.JOURNAL_STREAM) ? withPriority(50, text) : text)
}

export interface JsonOption {
  json?: boolean | undefined
}

/** Writes a result: as JSON to standard output if the option asks for it, else to `write` as `describe` formats it. */
export function printAs<T>({ json }: JsonOption, value: T, describe: (value: T) => string, write = print): void {
  if (json) print(writeJson(value, 2))
  else write(describe(value))
}

/** @throws {UsageError} if JSON was asked for. Call it if standard output already has the content. */
export function refuseJson({ json }: JsonOption, content: string): void {
  if (json) throw new UsageError(`--json needs the name of a file, because standard output has ${content}.`)
}
