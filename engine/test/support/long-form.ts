/**
 * `npm run test:long` sets `LONG_FORM`. Some tests then repeat the long trials whose figures are in
 * docs/background/reliability.md. Without it, they take seconds.
 */
export const isLongForm = process.env.LONG_FORM !== undefined

/** Prints the measured figures in the long form. */
export function report(title: string, figures: Record<string, unknown>): void {
  if (isLongForm) process.stdout.write(`\n${title}: ${JSON.stringify(figures)}\n`)
}
