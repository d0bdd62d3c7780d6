import { NewPet } from '../../server/pets/pets.ts'

/** Whether the service accepts the text as the name of a pet. */
export function isName(name: string): boolean {
  return NewPet.safeParse({ name, categoryId: 1n }).success
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
