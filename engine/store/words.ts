/**
 * Finds words in texts, for the search of both databases and for a page that marks what it has found. A word may be a part of
 * a longer one. Case makes no difference, nor do composed and decomposed letters, nor the accents of Latin letters. In other
 * scripts, marks make other letters.
 */

/**
 * The words of a text, as the other functions compare them. Dashes between words separate them, because people type the dash
 * that their keyboard has.
 */
export function wordsOf(text: string): string[] {
  const words = fold(text)
    .split(/\s+|(?<=\S)\p{Pd}+(?=\S)/u)
    .filter((word) => word !== '')
  const others = words.filter((word) => /\P{Pd}/u.test(word))
  return others.length > 0 ? others : words
}

/** Whether a text has all of the words, in any order. */
export function hasWords(text: string, words: readonly string[]): boolean {
  const folded = fold(text)
  return words.every((word) => folded.includes(word))
}

/** A text in parts, of which the second, the fourth and so on are what was found of the words. */
export function partsOf(text: string, words: readonly string[]): string[] {
  const parts = ['']
  const folds = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => ({ segment, folded: fold(segment) }))
  const whole = folds.map(({ folded }) => folded).join('')
  const isFound = new Uint8Array(whole.length)
  for (const word of words)
    for (let at = whole.indexOf(word); at !== -1; at = whole.indexOf(word, at + 1))
      isFound.fill(1, at, at + word.length)
  let end = 0
  for (const { segment, folded } of folds) {
    const start = end
    end += folded.length
    if (isFound.subarray(start, end).includes(1) === (parts.length % 2 === 1)) parts.push('')
    parts.push(parts.pop() + segment)
  }
  return parts
}

/** Latin letters that are no other letter with an accent, and what CLDR's transform Latin-ASCII makes of them. */
const bases = new Map(
  'ÆAE ÐD ØO ÞTH ĐD ĦH ĲIJ ĿL ŁL ŊN ŒOE ŦT ƁB ƉD ƊD ƐE ƑF ƗI ƘK ƝN ƲV ƳY ǤG'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.slice(1)]),
)

/** These letters, and the accents of Latin letters. Classes such as \p{M} take several times as long. */
const accents = new RegExp(
  `[${[...bases.keys()].join('')}]|(?<=[A-Z\u00c0-\u024f\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff])[\u0300-\u036f\u1dc0-\u1dff]+`,
  'g',
)

/** Equal for texts that are searched for alike. */
export function fold(text: string): string {
  if (!/[^ -~]/.test(text)) return text.toUpperCase()
  // The lower case comes first, because only it maps some letters, such as ẞ, to others with the same upper case.
  const letters = text.normalize('NFD').toLowerCase().toUpperCase()
  return letters.replace(accents, (accent) => bases.get(accent) ?? '').normalize('NFC')
}
