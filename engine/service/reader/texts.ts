/** What is wrong with a file or a row, for the command line and for pages. */
export const texts = {
  notUtf8: 'is not UTF-8 text. Save it as “CSV UTF-8”.',
  quotes: (line: number) =>
    `The quotes do not match from line ${line} on. Write a value that contains a quote in quotes, and double that quote.`,
  header: (columns: string[], unknown: string[], repeated: string[], missing: string[]) =>
    [
      `The columns are ${joinWords(columns)}. An id is ignored.`,
      ...named('Unknown', unknown),
      ...named('Repeated', repeated),
      ...named('Missing', missing),
    ].join(' '),
  cells: (expected: number, found: number, surplus: string[]) =>
    [
      `${expected} ${expected === 1 ? 'value is' : 'values are'} expected, not ${found}.`,
      ...named('Too many', surplus),
    ].join(' '),
  unused: (names: string[]) =>
    `${names.length === 1 ? 'The column' : 'The columns'} ${shorten(joinWords(names))} ${names.length === 1 ? 'is' : 'are'} not used.`,
  notAnObject: 'This is not a JSON object.',
  notJson: (reason: string) => `The text is not valid JSON: ${reason}.`,
  largeJson:
    "A JSON array of more than 5 MB is too large. Write each object on one line, for example with jq -c '.[]'.",
  unknownFields: (names: string[]) => `${named('Unknown fields', names).join('')} Remove or rename them.`,
}

/** Joins words to a list in English. `Intl.ListFormat` would add 30 ms to each start. */
export function joinWords(words: string[], conjunction: 'and' | 'or' = 'and'): string {
  return words.length < 3
    ? words.join(` ${conjunction} `)
    : `${words.slice(0, -1).join(', ')}, ${conjunction} ${words.at(-1)}`
}

function named(problem: string, names: string[]): string[] {
  return names.length === 0 ? [] : [`${problem}: ${shorten(names.join(', '))}.`]
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
