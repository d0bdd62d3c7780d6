/** The tests of requests that Prism cannot forward. These requests go directly to the service. */
const leftOut = [
  {
    reason:
      'Prism parses and serializes bodies, so it forwards only JSON objects and arrays, without their white space.',
    tests: [
      'null is refused: 400',
      '"Rex" is refused: 400',
      '{"name":"Rex" is refused: 400',
      "{'name':'Rex'} is refused: 400",
      'invalid UTF-8 is refused: 400',
      '64 KiB are accepted and one byte more is not: 413',
      'an unknown path is 404 whatever its body is',
    ],
  },
  {
    reason: 'Prism fails on a Content-Type without a subtype.',
    tests: ['Content-Type json is not: 415'],
  },
]

export function isLeftOut(test: string): boolean {
  return leftOut.some(({ tests }) => tests.includes(test))
}
