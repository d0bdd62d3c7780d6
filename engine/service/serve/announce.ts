import { relative } from 'node:path'
import type { Logger } from 'pino'
import { describeLocation, type Location } from '#store'

interface Start {
  name: string
  url: string
  /** A path of the REST API to show. */
  path: string
  database: Location
  firstKey: string | undefined
  hasConsole: boolean
}

/**
 * Shows the addresses of the service and the first key: as a banner for a person, else as a log line. The line is logged
 * whatever LOG_LEVEL is, because the key is stored only as a hash and cannot be shown again. Only the banner has the link
 * that signs in: logs are shown by programs that open or preview links.
 */
export function announce(start: Start, log: Logger, { asBanner }: { asBanner: boolean }): void {
  const { name, url, path, database, firstKey, hasConsole } = start
  const rest = `${url}/v1${path}`
  const facts = {
    console: hasConsole ? `${url}/` : undefined,
    rest,
    rpc: `${url}/trpc`,
    reference: `${url}/docs/`,
    database: database.kind === 'sqlite' ? relative('', database.path) : describeLocation(database),
    firstApiKey: firstKey,
    curl: firstKey && `curl -H 'Authorization: Bearer ${firstKey}' ${rest}`,
  }
  if (asBanner) process.stdout.write(banner(name, facts))
  else if (firstKey) {
    log.child({}, { level: 'info' }).info(facts, `${name} is ready`)
    log.flush()
  }
}

function banner(name: string, facts: Record<string, string | undefined>): string {
  const { console, rest, rpc, reference, database, firstApiKey, curl } = facts
  const intro = `
  ${name} is ready.

${console ? `  Console    ${console}\n` : ''}  REST       ${rest}
  Typed RPC  ${rpc}
  Reference  ${reference}
  Database   ${database}
`
  // Without a console, the browser would pass the key on to the API reference.
  const link = console ? `  Sign in to the console: ${console}#key=${firstApiKey}\n\n` : ''
  const key = `
  Your API key, shown only this once: ${firstApiKey}

${link}  ${curl}
`
  return `${intro}${firstApiKey ? key : ''}\n`
}
