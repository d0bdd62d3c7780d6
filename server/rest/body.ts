import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { parseJson } from '../int64.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Accepts `application/json` (RFC 8259) and nothing else, without losing a digit of an integer. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (request.headers['content-encoding'] !== undefined) {
      throw new ApiError('unsupported_media_type', 'Send the body without a Content-Encoding.')
    }
    return parseBody(body)
  })
}

function parseBody(body: Buffer): unknown {
  try {
    return parseJson(utf8.decode(body))
  } catch (cause) {
    throw new ApiError('invalid_request', 'The body is not valid JSON in UTF-8.', { cause })
  }
}
