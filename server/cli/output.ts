/** Writes a result to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Writes a note, a warning or an error to standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}
