/** Each character of the Basic Multilingual Plane and some beyond, alone and next to other characters. */
export function textsOfAllCharacters(): string[] {
  return characters().flatMap((character) => [character, `a${character}b`, ` ${character}`])
}

/** Without surrogates. A lone surrogate cannot be stored in UTF-8. */
function characters(): string[] {
  const plane = Array.from({ length: 0x10000 }, (_, codePoint) => codePoint)
  const wellFormed = plane.filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff)
  return [...wellFormed, 0x10000, 0x1f600, 0xe0001, 0xe0020, 0x10ffff].map((codePoint) =>
    String.fromCodePoint(codePoint),
  )
}
