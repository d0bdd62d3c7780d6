import type { FastifyInstance } from 'fastify'
import { ApiError } from '../api/errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Leaves bodies unread, whatever they are. */
export function ignoreBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
}

/** Accepts bodies of `application/json` in UTF-8 (RFC 8259) and nothing else; `parse` makes of the text what the door needs. */
export function acceptJsonOnly(app: FastifyInstance, parse: (text: string) => unknown): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (request.headers['content-encoding'] !== undefined) {
      return done(new ApiError('unsupported_media_type', 'Send the body without a Content-Encoding.'))
    }
    let parsed: unknown
    try {
      parsed = parse(utf8.decode(body))
    } catch (cause) {
      return done(new ApiError('invalid_request', 'The body is not valid JSON in UTF-8.', { cause }))
    }
    done(null, parsed)
  })
}
