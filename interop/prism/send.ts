import { type RestRequest, type RestResponse, sendTo } from '../../engine/test/support/rest-client.ts'

interface Violation {
  location: string[]
  message: string
}

/** Sends a request through Prism. Throws if the response, or a request that the service accepted, violates the document. */
export async function sendThroughPrism(prism: string, request: RestRequest): Promise<Omit<RestResponse, 'body'>> {
  const response = await sendTo(prism, request)
  const { 'content-type': type, 'sl-violations': violations = '[]' } = response.headers
  const exchange = `${request.method ?? 'GET'} ${request.url}: ${response.status}`
  if (type === 'application/problem+json') throw new Error(`${exchange}, by Prism itself: ${response.text}`)
  // Safe: Prism writes this header; its format is part of prism-http-server.
  const found = (JSON.parse(violations) as Violation[]).filter(
    ({ location }) => location[0] === 'response' || response.status < 400,
  )
  if (found.length > 0) throw new Error(`${exchange}. ${found.map(({ message }) => message).join('; ')}`)
  return response
}
