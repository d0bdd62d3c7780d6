import { METHODS } from 'node:http'
import fc from 'fast-check'
import { createDocument } from '../../engine/service/rest/document.ts'
import { appRouter } from '../../server/router.ts'
import { often, operationsIn } from './documented-requests.ts'
import { product } from './petstore.ts'

/**
 * Generates hostile requests: valid ones with replaced parts, and some with corrupted bytes. Few parts are replaced, because
 * requests with few faults are rejected late.
 */

const operations = operationsIn(createDocument(appRouter, product, []))

const nasty = [
  ...['', ' ', '\0', '%00', '%zz', '%e2%82', '../../etc/passwd', '..%2f..%2fetc%2fpasswd', '<script>alert(1)</script>'],
  ...["' OR 1=1 --", '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', '-0'],
  ...['1e999', '0x7fffffffffffffff', '9223372036854775807', '9223372036854775808', '-9223372036854775809'],
  ...['9'.repeat(5_000), '('.repeat(500), 'a'.repeat(3_000), '\ud800', '𝒳'.repeat(200), '\u202e', '{{7*7}}'],
  '\r\nX-Injected: 1',
]

const text = fc.oneof(fc.constantFrom(...nasty), fc.string({ unit: 'binary', maxLength: 40 }))
const jsonScalar = fc.oneof(
  fc.constantFrom(
    ...['null', 'true', '{}', '[]', '1e999', '-0', '1E400', '0.1', '9'.repeat(400), `1e${'9'.repeat(300)}`],
    ...['"\\ud800"', '"\\u0000"', '""'],
  ),
  fc.integer().map(String),
  fc.bigInt().map(String),
  text.map((value) => JSON.stringify(value)),
  fc.json({ maxDepth: 3 }),
)
const field = fc.oneof(
  fc.constantFrom('name', 'categoryId', 'status', 'id', '__proto__', 'constructor', 'json', 'meta', '0'),
  text,
)

const validField = fc.constantFrom(...Object.entries({ name: '"Rex"', categoryId: '7', status: '"sold"' }), [
  'categoryId',
  '9007199254740993',
])
const petBody = fc
  .array(often(validField, fc.tuple(field, jsonScalar)), { minLength: 1, maxLength: 6 })
  .map((fields) => `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`)

const deepBody = fc.constantFrom(
  '['.repeat(60_000),
  `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
  '{"a":'.repeat(10_000),
  `{"name":"${'\\u0000'.repeat(10_000)}","categoryId":1}`,
  `{"name":${'"a"'.repeat(10_000)}}`,
  '\ufeff{}',
  '{"name":"a","name":"b","categoryId":1,"categoryId":2}',
)

const superjsonType = fc.constantFrom(
  ...['bigint', 'Date', 'regexp', 'map', 'set', 'Error', 'undefined', 'number', 'symbol', 'class', 'custom', 'URL'],
  ...['nothing', ['class', 'Object'], ['symbol', 'a'], ['custom', 'a'], 7, null],
  ...['Uint8Array', '__proto__', 'Float64Array'].map((name) => ['typed-array', name]),
)
const superjsonPath = fc.oneof(
  fc.constantFrom(
    ...['name', 'categoryId', 'petId', 'cursor', '__proto__', '__proto__.polluted', 'constructor.prototype.polluted'],
    ...['a.b.c', 'name.0', '', '\\'],
  ),
  text,
)
const superjsonBody = fc
  .record({
    json: fc.oneof(
      fc.constantFrom(
        ...[{ name: 'Rex', categoryId: '7' }, { petId: 'x' }, { name: '/(a+)+$/', categoryId: '(((' }],
        ...[{ name: { length: 2 ** 31 }, categoryId: { length: 1e9 } }, [[1]], 'text', null],
      ),
      fc.object({ maxDepth: 2 }),
    ),
    meta: fc.oneof(
      fc.record({ values: fc.dictionary(superjsonPath, fc.oneof(fc.tuple(superjsonType), superjsonType)) }),
      fc.record({ values: fc.tuple(superjsonType) }),
      fc.record({ referentialEqualities: fc.dictionary(superjsonPath, fc.array(superjsonPath, { maxLength: 3 })) }),
      fc.record({ values: fc.anything(), v: fc.integer() }),
    ),
  })
  .map((value) => JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each)) ?? '')

const batch = fc.tuple(superjsonBody, superjsonBody).map(([first, second]) => `{"0":${first},"1":${second}}`)
const body = fc.oneof(
  { weight: 5, arbitrary: petBody },
  { weight: 4, arbitrary: superjsonBody },
  { weight: 2, arbitrary: batch },
  { weight: 1, arbitrary: deepBody },
  { weight: 1, arbitrary: text },
)

const query = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom('limit', 'status', 'cursor', 'input', 'batch'), text),
      fc.oneof(text, superjsonBody),
    ),
    { maxLength: 4 },
  )
  .map((pairs) => pairs.map(([name, value]) => `${escapeEnds(name)}=${escapeEnds(value)}`).join('&'))

const procedures = fc.array(
  fc.constantFrom(...Object.keys(appRouter._def.procedures), 'pets.none', 'pets', '__proto__', ''),
  { minLength: 1, maxLength: 25 },
)
const target = fc.oneof(
  fc.constantFrom(
    ...['/v1/pets', '/', '//', '*', '/docs/', '/docs/../v1/pets', '/openapi.json', 'http://a/v1/pets', 'http://['],
    ...['/v1//pets', '/v1/pets/1/', '?', '#', '/%'],
  ),
  fc
    .tuple(fc.constantFrom(...operations), text, query)
    .map(([{ path }, value, each]) => `/v1${path.replaceAll(/\{\w+\}/g, () => escapeEnds(value))}?${each}`),
  fc.tuple(procedures, query).map(([names, each]) => `/trpc/${names.join(',')}?batch=1&${each}`),
  fc.tuple(procedures, query).map(([[name], each]) => `/trpc/${name}?${each}`),
  text.map((path) => `/${path}`),
)

const header = fc.oneof(
  fc.constantFrom(
    ...['Content-Type: application/json', 'Content-Type: application/json;charset=utf-7'],
    ...['Content-Type: multipart/form-data; boundary=a', 'Content-Type: application/octet-stream', 'Content-Type: ;;;'],
    ...['Content-Encoding: gzip', 'Transfer-Encoding: chunked', 'Expect: 100-continue', 'Expect: tea'],
    ...['Connection: upgrade, close', 'Upgrade: websocket', 'Upgrade: h2c', 'Accept: application/jsonl'],
    ...['trpc-accept: application/jsonl', 'Accept-Version: 9', 'Host: other', 'Range: bytes=0-1', 'If-None-Match: *'],
    ...['Content-Length: 5', 'X-HTTP-Method-Override: DELETE', 'X-Forwarded-For: 1.2.3.4, evil', 'Idempotency-Key: a'],
    ...['Idempotency-Key: "', `Idempotency-Key: ${'k'.repeat(255)}`, 'Transfer-Encoding: gzip, chunked'],
  ),
  fc.tuple(fc.string({ unit: 'grapheme-ascii', maxLength: 10 }), text).map(([name, value]) => `${name}: ${value}`),
)

/** The bytes for one connection, and how to send them. */
export interface Conversation {
  bytes: Buffer
  /** In one piece, in two pieces, or followed by a reset. */
  manner: 'whole' | 'split' | 'reset'
  /** Whether a response may have no body. */
  hasHead: boolean
}

/** Usually one request. Most requests carry `authorization`, a header line with a valid key. */
export function hostileConversation(authorization: string): fc.Arbitrary<Conversation> {
  const methods = often(
    fc.constantFrom(...operations.map(({ method }) => method)),
    fc.oneof(fc.constantFrom(...METHODS), text),
  )
  const single = fc.tuple(request(methods), often(fc.constant(undefined), breakage)).map(([each, broken]) => {
    const bytes = bytesOf(each, authorization)
    return { bytes: broken ? breakBytes(bytes, broken) : bytes, hasHead: each.method.startsWith('HEAD') }
  })
  const several = fc.array(request(fc.constantFrom('GET', 'POST', 'OPTIONS', 'CONNECT')), {
    minLength: 2,
    maxLength: 4,
  })
  const pipeline = several.map((requests) => ({
    bytes: Buffer.concat(requests.map((each) => bytesOf(each, authorization))),
    hasHead: false,
  }))
  const manner = often(fc.constant('whole' as const), fc.constantFrom('split' as const, 'reset' as const))
  return fc.tuple(often(single, pipeline), manner).map(([sent, how]) => ({ ...sent, manner: how }))
}

type HostileRequest = ReturnType<typeof request> extends fc.Arbitrary<infer T> ? T : never

function request(method: fc.Arbitrary<string>) {
  const usually = often(fc.constant(true), fc.constant(false))
  const headers = often(fc.constant<string[]>([]), fc.array(header, { maxLength: 3 }))
  return fc.record({ method, target, body, headers, isJson: usually, hasKey: usually, tellsLength: usually })
}

function bytesOf(each: HostileRequest, authorization: string): Buffer {
  const payload = Buffer.from(each.body)
  const lines = [
    `${each.method} ${each.target} HTTP/1.1`,
    'Host: petstore.test',
    ...(each.hasKey ? [authorization] : []),
    ...(each.isJson ? ['Content-Type: application/json'] : []),
    ...each.headers,
    ...(each.tellsLength ? [`Content-Length: ${payload.length}`] : []),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), payload])
}

const breakage = fc.array(
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), byte: fc.integer({ min: 0, max: 255 }), cut: fc.nat(8) }),
  { minLength: 1, maxLength: 3 },
)

/** Replaces bytes of the request head. */
function breakBytes(bytes: Buffer, places: { at: number; byte: number; cut: number }[]): Buffer {
  return places.reduce((current, { at, byte, cut }) => {
    const index = Math.floor(at * Math.min(current.length, 400))
    return Buffer.concat([current.subarray(0, index), Buffer.from([byte]), current.subarray(index + cut)])
  }, bytes)
}

/** Escapes only characters that would end the value or the request line. The others stay hostile. */
function escapeEnds(value: string): string {
  return value.toWellFormed().replaceAll(/[^!-~]|[#&]/gu, (character) => encodeURIComponent(character))
}
