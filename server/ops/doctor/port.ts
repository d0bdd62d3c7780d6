import { z } from 'zod'
import { checkHealth, describeHealth } from '../healthcheck.ts'
import { type Finding, failure, ok, runCheck } from './finding.ts'

export interface PortToCheck {
  /** Where the service listens, or would listen. */
  origin: string
  /** Tries to listen. Resolves to why it cannot, or undefined. */
  problem: () => Promise<string | undefined>
}

/** Milliseconds. */
const timeout = 2_000

/** @param title of the OpenAPI document of the service */
export async function checkPort({ origin, problem }: PortToCheck, title: string): Promise<Finding[]> {
  const isRunning = await isServed(origin, title)
  return [
    await runCheck('port', async () => {
      if (isRunning) return ok(`A running petstore serves at ${origin}.`)
      const text = await problem()
      return text === undefined ? ok(`${origin} is free.`) : failure(text)
    }),
    await runCheck('service', async () =>
      ok(isRunning ? describeHealth(await checkHealth(origin)) : 'It does not run, so its readiness was not checked.'),
    ),
  ]
}

async function isServed(origin: string, title: string): Promise<boolean> {
  const OwnDocument = z.object({ info: z.object({ title: z.literal(title) }) })
  try {
    const response = await fetch(`${origin}/openapi.json`, { signal: AbortSignal.timeout(timeout) })
    return OwnDocument.safeParse(await response.json()).success
  } catch {
    return false
  }
}
