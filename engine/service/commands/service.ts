import { once } from 'node:events'
import type { Command } from 'commander'
import type { WithApiKeys } from '#store'
import { type Config, type Configuration, originOf, publicAddressOf } from '../config.ts'
import { alignColumns } from '../operator/format.ts'
import { OperatorError } from '../operator/operator-error.ts'
import type { Service } from '../service.ts'
import { addCommand, type Cli, withHelp } from './cli.ts'
import { examine, type Finding, finding } from './doctor.ts'
import { type JsonOption, print, printAs } from './output.ts'

// An import of it would also load Node's fetch, in each command.
const { get } = process.getBuiltinModule('node:http')

/** Milliseconds. The service itself responds within a second. */
const healthTimeout = 2_500

// Only the commands that need Fastify or the generator of the document load them: they take as long as all the rest.

export function addServiceCommands(program: Command, cli: Cli<WithApiKeys>, service: Service<WithApiKeys>): void {
  const { product, router } = service
  const { settings, readConfig, readForCommand } = cli.configuration
  const serving = 'serve REST and typed RPC until stopped (the default)'
  withHelp(cli, program.command('serve'), serving, ['', 'PORT=8080 $0 serve'], settings).action(async () => {
    const { serve } = await import('../serve/serve.ts')
    await serve(readConfig(), service)
  })

  const asking = 'ask the running service whether it is ready, and set the exit code'
  addCommand(cli, program, 'healthcheck', asking, ['healthcheck'], ['host', 'port']).action(
    async (options: JsonOption) => {
      const url = `${originOf(readForCommand())}/readyz`
      const status = await statusOf(url)
      if (status !== 200)
        throw new OperatorError(`The service is not ready: ${url} responds ${status}. See its log for the cause.`)
      printAs(options, { url, status }, () => `The service is ready: ${url} responds ${status}.`)
    },
  )

  const printing = 'print the OpenAPI document of the REST API'
  const documents = ['openapi > openapi.json', 'PUBLIC_URL=https://$0.example $0 openapi']
  const ofServers = ['publicUrl', 'stagingUrl', 'host', 'port']
  withHelp(cli, program.command('openapi'), printing, documents, ofServers).action(async () => {
    const { createDocument } = await import('../rest/document.ts')
    const { serversOf } = await import('../rest/reference.ts')
    const config = readForCommand()
    const document = createDocument(router, product, serversOf(config, publicAddressOf(config, config)))
    print(JSON.stringify(document, null, 2))
  })
}

/** Not with `fetch`, which refuses ports such as 10080. */
async function statusOf(url: string): Promise<number> {
  try {
    const [response] = await once(get(url, { agent: false, signal: AbortSignal.timeout(healthTimeout) }), 'response')
    // Another program may respond without an end.
    response.destroy()
    return response.statusCode
  } catch (error) {
    // Safe: what the value lacks is undefined.
    const { name, code, message } = Object(error) as Partial<NodeJS.ErrnoException>
    const reason = name === 'AbortError' ? `no response within ${healthTimeout / 1_000} s` : (code ?? message)
    throw new OperatorError(
      `The service does not respond at ${url} (${reason}). Start it, or set HOST and PORT to its address.`,
      { cause: error },
    )
  }
}

export function addDoctorCommand(program: Command, cli: Cli): void {
  const { product, definition, configuration } = cli
  const { command } = product
  const description =
    'examine the configuration and the database, say what is wrong and what to do, and set the exit code'
  addCommand(cli, program, 'doctor', description, ['doctor', 'doctor --json'], configuration.settings).action(
    async (options: JsonOption) => {
      const { config, findings } = examineConfig(configuration)
      const all = await examine(findings, config && { ...config, command, definition })
      printAs(options, all, () => alignColumns(all.map(({ status, check, message }) => [status, check, message])))
      if (all.some(({ status }) => status === 'failure')) process.exitCode = 1
    },
  )
}

function examineConfig({ readConfig }: Configuration): { config?: Config; findings: Finding[] } {
  try {
    return { config: readConfig(), findings: [finding('configuration', 'ok', 'The configuration is valid.')] }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const problems = error.message.replace(/\n */, ' ').replaceAll(/\n */g, '; ')
    return { findings: [finding('configuration', 'failure', problems)] }
  }
}
