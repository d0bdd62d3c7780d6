import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fold, hasWords, partsOf, wordsOf } from '../../words.ts'

test('all words of a search are in what it finds, in any order', () => {
  const name = 'Socks – ginger tea'
  for (const text of [
    'socks ginger',
    'GINGER socks',
    ' tea\u00a0ock ',
    'socks',
    ' ',
    'Socks - ginger',
    'socks-ginger',
    '–',
  ]) {
    expect([text, hasWords(name, wordsOf(text))]).toEqual([text, true])
  }
  for (const text of ['socks cup', 'socksginger', 'socks_ginger', '-', '-ginger']) {
    expect([text, hasWords(name, wordsOf(text))]).toEqual([text, false])
  }
})

test.for([
  ['Šárka', 'sarka'],
  ['S\u030ca\u0301rka', 'šarká'],
  ['Łódź', 'lodz'],
  ['Đặng Thị Ánh', 'anh thi dang'],
  ['Bjørn Æbelø', 'bjorn aebelo'],
  ['Straße', 'strasse'],
  ['STRASSE', 'straße'],
  ['Þórður', 'thordur'],
  ['İnci Işık', 'inci isik'],
  ['Œuvre', 'oeuvre'],
  ['Ǿx', 'ox'],
  ['Пёс', 'ПЁС'],
  ['Άνγκρα', 'άΝγκρα'],
  ['가', '가'.normalize('NFD')],
] as const)('%s is found as %s, and the other way around', ([name, text]) => {
  expect([hasWords(name, wordsOf(text)), hasWords(text, wordsOf(name))]).toEqual([true, true])
})

test.for([
  ['कु', 'कि'],
  ['й', 'и'],
  ['が', 'か'],
  ['ё', 'е'],
  ['ά', 'α'],
  ['각', '가'],
  ['שּׁ', 'ש'],
] as const)('%s is another letter than %s', ([letter, other]) => {
  const [composed, decomposed] = (['NFC', 'NFD'] as const).map((form) => letter.normalize(form))
  for (const text of [composed, decomposed]) expect(fold(String(text))).not.toBe(fold(other))
  if (letter !== 'שּׁ') expect(hasWords(letter, wordsOf(other))).toBe(false)
})

test('every letter is equal in each case, composed and decomposed, wherever it stands', () => {
  const unequal: string[] = []
  for (let point = 0; point <= 0x10ffff; point++) {
    const letter = String.fromCodePoint(point)
    const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()]
    if (lower === letter && upper === letter && letter.normalize('NFD') === letter) continue
    const cases = [letter, lower, upper, lower.toUpperCase(), upper.toLowerCase()]
    const forms = [...cases, ...cases.map((each) => each.normalize('NFD'))]
    for (const around of [(each: string) => each, (each: string) => `Σ${each}`, (each: string) => `${each}a`]) {
      if (new Set(forms.map((each) => fold(around(each)))).size > 1) unequal.push(letter)
    }
  }
  expect(unequal).toEqual([])
})

test('the parts of a text that were found are whole letters', () => {
  for (const [text, search, parts] of [
    ['Socks – ginger tea', 'GINGER ock', ['S', 'ock', 's – ', 'ginger', ' tea']],
    ['Šárka', 'ar', ['Š', 'ár', 'ka']],
    ['S\u030ca\u0301rka', 'sa', ['', 'S\u030ca\u0301', 'rka']],
    ['Groß', 's', ['Gro', 'ß']],
    ['कुत्ता', 'क', ['', 'कु', 'त्ता']],
    ['banana', 'ana an', ['b', 'anana']],
    ['aa a', 'a', ['', 'aa', ' ', 'a']],
    ['🐕 kočka', 'ko', ['🐕 ', 'ko', 'čka']],
    ['Socks', 'cup', ['Socks']],
    ['Socks', ' ', ['Socks']],
  ] as const) {
    expect(partsOf(text, wordsOf(search))).toEqual(parts)
  }
})

test('what has a word has a part with it, and the parts make the text', () => {
  const letters = fc.constantFrom(
    ...['a', 'Š', 's\u030c', 'ß', 'ﬁ', 'Σ', 'ς', 'İ', 'й', 'कु', '각', '\u1100\u1161', '🐕', ' '],
  )
  const text = fc.array(letters, { maxLength: 6 }).map((all) => all.join(''))
  fc.assert(
    fc.property(text, text, (name, search) => {
      const words = wordsOf(search)
      const parts = partsOf(name, words)
      expect(parts.join('')).toBe(name)
      const isFound = words.some((word) => hasWords(name, [word]))
      expect(parts.length > 1).toBe(isFound)
    }),
    { numRuns: 500 },
  )
})
