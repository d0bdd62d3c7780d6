import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { isLongForm, report } from '../../../engine/test/support/long-form.ts'
import { memoryGrowth, residentMemory, smallHeap } from '../../../engine/test/support/process.ts'
import { closing, parseResponses, type RawResponse } from '../../../engine/test/support/raw-http.ts'
import { type Conversation, hostileConversation } from '../../support/hostile-requests.ts'
import { startWithKey } from '../../support/petstore.ts'

const seed = Number(process.env.HOSTILE_SEED ?? 20_261_120)
const count = isLongForm ? 100_000 : 16_000
const portion = isLongForm ? 2_000 : 1_000
const connections = 64

test(`${count} hostile requests (seed ${seed}) cause no 5xx response, no crash, no leak and no error response without an Error body`, async () => {
  const { server, key, rest } = await startWithKey(smallHeap)
  const arbitrary = hostileConversation(`Authorization: Bearer ${key}`)
  const complaints: string[] = []
  const samples: { requests: number; memory: number }[] = []
  let refused = 0

  for (let sent = 0; sent < count; sent += portion) {
    const conversations = fc.sample(arbitrary, { seed: seed + sent, numRuns: portion })
    const sendSome = async () => {
      for (let each = conversations.pop(); each; each = conversations.pop()) {
        const received = await exchange(server.url, each)
        if (isRefused(received)) refused++
        const complaint = isRefused(received) ? undefined : complain(each, received)
        if (complaint) complaints.push(`${complaint}\n${each.bytes.toString('latin1').slice(0, 2_000)}`)
      }
    }
    await Promise.all(Array.from({ length: connections }, sendSome))
    samples.push({ requests: sent + portion, memory: residentMemory(server) })
  }
  // The first quarter warms the server up.
  const growth = memoryGrowth(samples.slice(samples.length / 4))
  report('Hostile requests', { seed, count, complaints: complaints.length, refused, growth })

  expect(complaints.length, complaints.slice(0, 3).join('\n\n')).toBe(0)
  // A busy machine may keep the process waiting for a second.
  expect(refused).toBeLessThan(count / 100)
  expect(server.stdout).not.toContain('"level":"error"')
  expect(server.stderr).toBe('')
  expect(server.child.exitCode).toBeNull()
  expect(growth).toBeLessThan(12)
  expect((await rest.post('/v1/pets', { name: 'Rex', categoryId: 7 })).status).toBe(201)
}, 900_000)

/** Sends the bytes and returns what the server sends back. Closes the connection if the server waits for more. */
async function exchange(url: string, conversation: Conversation): Promise<string> {
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
  await send(socket, conversation)
  await closing(socket)
  return Buffer.concat(chunks).toString('utf8')
}

async function send(socket: Socket, { bytes, manner }: Conversation): Promise<void> {
  const middle = Math.floor(bytes.length / 2)
  socket.write(manner === 'whole' ? bytes : bytes.subarray(0, middle))
  if (manner === 'whole') return
  await nextTurn()
  if (manner === 'split') socket.write(bytes.subarray(middle))
  else socket.resetAndDestroy()
}

/** Whether the service had no time for the request. */
function isRefused(received: string): boolean {
  return received.includes('The service has too much to do at the moment.')
}

/** Returns what is wrong with the responses, or undefined. */
function complain({ manner, hasHead }: Conversation, received: string): string | undefined {
  if (received === '') return manner === 'reset' ? undefined : 'no response'
  const [first = ''] = received.split('\r\n')
  if (hasHead) return / 5\d\d /.test(first) ? first : undefined
  const isFine = parseResponses(received).every(
    (response) => response.status < 400 || (response.status < 500 && hasErrorBody(response)),
  )
  return isFine ? undefined : received.slice(0, 1_000)
}

/** Whether the body is REST's Error, tRPC's envelope around it, or an array of envelopes for a batch. */
function hasErrorBody({ status, body }: RawResponse): boolean {
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
