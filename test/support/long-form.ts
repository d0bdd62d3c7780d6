/** Tests of endurance have two forms: a short one for each day and, with `LONG_FORM` set, the one whose figures are kept. */
export const isLongForm = process.env.LONG_FORM !== undefined

/** Prints what a long form has measured. */
export function report(title: string, figures: Record<string, unknown>): void {
  if (isLongForm) process.stdout.write(`\n${title}: ${JSON.stringify(figures)}\n`)
}

/** Shows how far a long form has come, on a terminal. */
export function showProgress(text: string): void {
  if (isLongForm && process.stderr.isTTY) process.stderr.write(`\r${text.padEnd(78)}`)
}
