/** A number with its noun: `1 pet`, `2 pets`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
