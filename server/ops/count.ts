/** A number with its noun: `1 row`, `2 rows`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

/** Joins words to a list in English. `Intl.ListFormat` would add 30 ms to each start. */
export function listOf(words: string[]): string {
  return words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')}, and ${words.at(-1)}`
}
