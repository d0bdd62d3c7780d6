import { connect } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { hostileRequest } from './hostile-requests.ts'
import { bannerKey, startServer, waitForOutput } from './process.ts'
import { closing, parseAnswers, type RawAnswer } from './raw-http.ts'

const seed = 20_261_120
const count = 10_000
const connections = 32

test(`${count} hostile requests (seed ${seed}) bring no 5xx, no crash and no failure without an Error body`, async () => {
  const server = await startServer()
  const key = await waitForOutput(server, bannerKey)
  const requests = fc.sample(hostileRequest(`Authorization: Bearer ${key}`), { seed, numRuns: count })
  const complaints: string[] = []

  async function sendSome(): Promise<void> {
    for (let request = requests.pop(); request; request = requests.pop()) {
      const complaint = complain(request, await answersTo(server.url, request))
      if (complaint) complaints.push(`${complaint}\n${request.toString('latin1').slice(0, 2_000)}`)
    }
  }
  await Promise.all(Array.from({ length: connections }, sendSome))

  expect(complaints.length, complaints.slice(0, 3).join('\n\n')).toBe(0)
  expect(server.stdout).not.toContain('"level":50')
  expect(server.stderr).toBe('')
  expect(server.child.exitCode).toBeNull()
  const rex = { method: 'POST', body: '{"name":"Rex","categoryId":7}' }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  expect((await fetch(`${server.url}/v1/pets`, { ...rex, headers })).status).toBe(201)
}, 120_000)

/** Sends the bytes and, if the server waits for more, ends them. */
async function answersTo(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    socket.setTimeout(20)
  })
  socket.setTimeout(1_500)
  socket.on('timeout', () => {
    socket.end()
    socket.setTimeout(0)
  })
  socket.write(bytes)
  await closing(socket)
  return Buffer.concat(chunks).toString('utf8')
}

/** What is wrong with the answers, if anything is. */
function complain(request: Buffer, received: string): string | undefined {
  if (received === '') return 'no answer'
  const [first = ''] = received.split('\r\n')
  if (request.subarray(0, 5).toString() === 'HEAD ') return / 5\d\d /.test(first) ? first : undefined
  const isFine = parseAnswers(received).every(
    (answer) => answer.status < 400 || (answer.status < 500 && hasErrorBody(answer)),
  )
  return isFine ? undefined : received.slice(0, 1_000)
}

/** REST's Error body, or tRPC's envelope around it, or several of these in the answer to a batch. */
function hasErrorBody({ status, body }: RawAnswer): boolean {
  const Shape = z.object({ code: z.string(), message: z.string(), status: z.literal(status) })
  const Envelope = z.object({ error: z.object({ json: z.object({ data: Shape }) }) })
  return z.union([Shape, Envelope, z.array(Envelope)]).safeParse(parseOrNothing(body)).success
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
