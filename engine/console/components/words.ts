/** What marks words, which the first load does without. */
let words: typeof import('#store/words') | undefined

/** Loads what marks words. Without it, they are not marked. */
export async function loadWords(): Promise<void> {
  words ??= await import('#store/words').catch(() => undefined)
}

/** A text in parts, of which the second, the fourth and so on are what was found. */
export function partsOf(text: string, found: string): string[] {
  return words ? words.partsOf(text, words.wordsOf(found)) : [text]
}
