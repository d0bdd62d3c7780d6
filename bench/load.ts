import { connect } from 'node:net'
import { type NextRequest, type Target, type Workload, workloads } from './workloads.ts'

/**
 * The load generator, a process of its own. Each connection sends its next request after the response to the previous one.
 * It parses only the length and the status of a response. Existing libraries use as much CPU per request as the servers
 * that they measure, or measure latency in whole milliseconds.
 */

export interface Job {
  workload: Workload
  /** The connections are distributed over these servers. */
  targets: Target[]
  connections: number
  milliseconds: number
}

export interface Measurement {
  requests: number
  seconds: number
  /** Responses other than 200 and 201. */
  failures: number
  /** Milliseconds. */
  p50: number
  p99: number
}

interface Source {
  port: number
  next: NextRequest
}

let end = 0

process.on('message', async (message: Job | 'end') => {
  if (message === 'end') end = 0
  else process.send?.(await run(message))
})
process.on('disconnect', () => process.exit())

async function run({ workload, targets, connections, milliseconds }: Job): Promise<Measurement> {
  const sources = targets.map((target) => ({ port: target.port, next: workloads[workload](target) }))
  const latencies: number[] = []
  let failures = 0
  const start = performance.now()
  end = start + milliseconds

  function connection({ port, next }: Source): Promise<void> {
    return new Promise((resolve, reject) => {
      let received = ''
      let sentAt = 0
      let isDone = false
      const send = () => {
        const request = next()
        sentAt = performance.now()
        socket.write(request)
      }
      const receive = (bytes: number, buffer: Uint8Array) => {
        // Safe: this is the Buffer that `onread` allocates.
        received += (buffer as Buffer).toString('latin1', 0, bytes)
        if (!isComplete(received)) return true
        const now = performance.now()
        latencies.push(now - sentAt)
        if (!/^HTTP\/1\.1 20[01]/.test(received)) failures++
        received = ''
        if (now < end) send()
        else {
          isDone = true
          socket.end()
        }
        return true
      }
      const onread = { buffer: Buffer.allocUnsafe(64 * 1024), callback: receive }
      const socket = connect({ host: '127.0.0.1', port, noDelay: true, onread })
      socket.once('connect', send).once('error', reject)
      socket.once('close', () => (isDone ? resolve() : reject(new Error('The server closed a connection.'))))
    })
  }

  // Safe: the index is less than the number of sources.
  await Promise.all(Array.from({ length: connections }, (_, i) => connection(sources[i % sources.length] as Source)))
  const seconds = (performance.now() - start) / 1_000
  const sorted = Float64Array.from(latencies).sort()
  const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { requests: latencies.length, seconds, failures, p50: quantile(0.5), p99: quantile(0.99) }
}

function isComplete(received: string): boolean {
  const head = received.indexOf('\r\n\r\n')
  if (head < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1]
  return length === undefined ? received.endsWith('\r\n0\r\n\r\n') : received.length >= head + 4 + Number(length)
}
