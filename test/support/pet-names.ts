import { NewPet } from '../../server/pets/pets.ts'

/** Whether the service accepts the text as the name of a pet. */
export function isName(name: string): boolean {
  return NewPet.safeParse({ name, categoryId: 1n }).success
}

/** Each character of the Basic Multilingual Plane and some beyond, alone and next to other characters. */
export function namesOfAllCharacters(): string[] {
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

/** Names that a wrongly quoted shell command or program would change. */
export const awkwardNames = [
  `it's "quoted" \\ \\" \\\\' \\n \\u0041`,
  '$HOME $(id) `id` !! !$ %s %PATH% ~ * ? [a] {a,b}',
  '  two spaces before, and one after ',
  "-- @/etc/hosts; exit 1 # </script> && || > < '",
  '🐕‍🦺 Rüdi مرحبا \u202eRex\u202c \u2028',
  '"id":7,"categoryId":"8"',
]
