import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Brackets are for IPv6 addresses (RFC 3986, section 3.2.2). */
const withPort = /^(?:\[([\da-fA-F:.]+)\]|([\d.]+))(?::\d{1,5})?$/

/**
 * The IP address of the client: the one that a trusted proxy reports in `X-Forwarded-For`, where some proxies add a port and
 * brackets, otherwise that of the connection. Undefined if the client had reset the connection before the service accepted
 * it. Without this function, any text that a client sends in that header would be logged.
 */
export function clientAddressOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string | undefined {
  // Fastify's type says that it is always a string.
  const reported: string | undefined = ip
  const [, ipv6, ipv4] = withPort.exec(reported ?? '') ?? []
  const address = [reported, ipv6, ipv4].find((candidate = '') => isIP(candidate) !== 0) ?? socket.remoteAddress
  // The zone of a link-local address (RFC 4007) means something only on its own machine.
  return address?.replace(/%.*/, '')
}
