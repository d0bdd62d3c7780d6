import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { type BrotliOptions, brotliCompress, gzip, type ZlibOptions } from 'node:zlib'

/** Content codings (RFC 9110, section 8.4.1). At equal weights, the first one is preferred. */
const encodings = ['br', 'gzip'] as const
type Encoding = (typeof encodings)[number]

/** The coding that the client prefers, or undefined if the content is sent as it is, also to a client that refuses that. */
export function encodingFor({ 'accept-encoding': accepted }: IncomingHttpHeaders): Encoding | undefined {
  const coding = preferred(accepted, [...encodings, 'identity'])
  return coding === 'identity' ? undefined : coding
}

/** Items of a header that are read, because 15 kB of commas would take milliseconds. Browsers send eight at most. */
const maxItems = 32

/**
 * The offer with the highest weight in a header such as `Accept-Encoding` (RFC 9110, section 12.4.2), at equal weights the
 * first one. Undefined if the header accepts none. A malformed weight counts as 0.
 */
export function preferred<Offer extends string>(
  header: string | undefined,
  offers: readonly Offer[],
): Offer | undefined {
  if (header === undefined) return undefined
  const weights = new Map(header.toLowerCase().split(',', maxItems).map(weightedValue))
  let [best, highest]: [Offer | undefined, number] = [undefined, 0]
  for (const offer of offers) {
    const weight = weights.get(offer) ?? weights.get('*') ?? 0
    if (weight > highest) [best, highest] = [offer, weight]
  }
  return best
}

function weightedValue(item: string): [value: string, weight: number] {
  const [value = '', parameter = 'q=1'] = item.split(';', 2).map((part) => part.trim())
  const [, weight = 0] = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(parameter) ?? []
  return [value, Number(weight)]
}

export type Compress = (encoding: Encoding) => Promise<Buffer>

/** Makes the function that compresses the content in the thread pool, once for each coding. */
export function compressOnce(content: string | Buffer, options: { br: BrotliOptions; gzip: ZlibOptions }): Compress {
  const compressed = new Map<Encoding, Promise<Buffer>>()
  return function compress(encoding) {
    const known = compressed.get(encoding)
    if (known !== undefined) return known
    const result =
      encoding === 'br' ? promisify(brotliCompress)(content, options.br) : promisify(gzip)(content, options.gzip)
    compressed.set(encoding, result)
    result.catch(() => compressed.delete(encoding))
    return result
  }
}

/** A weak entity tag (RFC 9110, section 8.8.3). Proxies that compress the content keep it. */
export function entityTag(content: string | Buffer): string {
  return `W/"${hash('sha256', content, 'base64url').slice(0, 27)}"`
}

/** Whether the client has the content already. Compares weakly, as `If-None-Match` requires (RFC 9110, section 13.1.2). */
export function hasContent({ 'if-none-match': known }: IncomingHttpHeaders, tag: string): boolean {
  return known !== undefined && (known === '*' || known.includes(tag.slice(2)))
}
