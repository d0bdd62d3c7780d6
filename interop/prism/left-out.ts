/** The tests of requests that Prism cannot forward. These requests go directly to the service. */
const leftOut = [
  {
    reason:
      'Prism parses and serializes bodies, so it forwards only JSON objects and arrays, without their white space.',
    tests: [
      'the body null is rejected: 400',
      'the body "Rex" is rejected: 400',
      'the body {"name":"Rex" is rejected: 400',
      "the body {'name':'Rex'} is rejected: 400",
      'invalid UTF-8 is rejected: 400',
      '64 KiB are accepted, and one byte more is rejected: 413',
      'PUT /v1/pets is 405 with any body',
      'POST /v1/nothing is 404 with any body',
    ],
  },
  {
    reason: 'Prism itself refuses a path that the document does not have.',
    tests: [
      'GET of a path without the value of a parameter is 404, and says nothing of other operations',
      'the path /v1/pets/ is unknown: 404',
    ],
  },
  {
    reason: 'HEAD goes directly to the service, and Prism sends another Keep-Alive than the service.',
    tests: [
      'the response to HEAD is that to GET without the body',
      'a list has a weak tag, with which GET and HEAD get 304 without a body',
      'the last page has a weak tag, with which GET and HEAD get 304 without a body',
    ],
  },
]

export function isLeftOut(test: string): boolean {
  return leftOut.some(({ tests }) => tests.includes(test))
}
