import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Starts a server for one test, and returns its origin. */
export async function startServer(handle: RequestListener): Promise<string> {
  const server = createServer(handle)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // Safe: the address of a server that listens on a TCP port is neither a string nor null.
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

const head = { 'content-type': 'application/json' }

/** Responses that do not end, by what is slow about them. */
export const slowResponses = {
  'that never begins': () => {},
  'that stalls after its headers': (response: ServerResponse) => {
    response.writeHead(200, head)
    response.flushHeaders()
  },
  'that stalls in the body': (response: ServerResponse) => void response.writeHead(200, head).write('[{"result":'),
  'whose body drips': (response: ServerResponse) => {
    response.writeHead(200, head)
    const drip = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(drip))
  },
}
