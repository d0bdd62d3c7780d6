import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** A weak entity tag (RFC 9110, section 8.8.3). Proxies that compress the content keep it. */
export function entityTag(content: string | Buffer): string {
  return `W/"${hash('sha256', content, 'base64url').slice(0, 27)}"`
}

/** Whether the client has the content already. Compares weakly, as `If-None-Match` requires (RFC 9110, section 13.1.2). */
export function hasContent({ 'if-none-match': known }: IncomingHttpHeaders, tag: string): boolean {
  return known !== undefined && (known === '*' || known.includes(tag.slice(2)))
}
