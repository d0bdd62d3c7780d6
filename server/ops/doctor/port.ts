import { z } from 'zod'
import { type Finding, failure, ok } from './finding.ts'

export interface PortToCheck {
  /** Where the service listens, or would listen. */
  origin: string
  /** Tries to listen. Resolves to why it cannot, or undefined. */
  problem: () => Promise<string | undefined>
}

/** Milliseconds. */
const timeout = 2_000
const OwnDocument = z.object({ info: z.object({ title: z.literal('Petstore') }) })

export async function checkPort({ origin, problem }: PortToCheck): Promise<Finding> {
  const text = await problem()
  if (text === undefined) return ok('port', `${origin} is free.`)
  return (await isPetstore(origin)) ? ok('port', `A running petstore serves at ${origin}.`) : failure('port', text)
}

async function isPetstore(origin: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/openapi.json`, { signal: AbortSignal.timeout(timeout) })
    return OwnDocument.safeParse(await response.json()).success
  } catch {
    return false
  }
}
