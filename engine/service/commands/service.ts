import type { Command } from 'commander'
import type { WithApiKeys } from '#store/keys'
import { type Config, type Configuration, originOf, publicAddressOf } from '../config.ts'
import { OperatorError } from '../operator/operator-error.ts'
import type { Service } from '../service.ts'
import { addHelp, type Cli } from './cli.ts'
import { describeFindings, examine, type Finding, failure, finding, ok } from './doctor.ts'
import { checkHealth, describeHealth } from './healthcheck.ts'
import { type JsonOption, jsonOption, print, printAs } from './output.ts'

// Only the commands that need Fastify or the generator of the document load them: they take as long as all the rest.

export function addServiceCommands(program: Command, cli: Cli<WithApiKeys>, service: Service<WithApiKeys>): void {
  const { product, router } = service
  const { settings, readConfig } = cli.configuration
  const serve = program
    .command('serve')
    .description('serve REST and typed RPC until stopped (the default)')
    .action(async () => {
      const { serve } = await import('../serve/serve.ts')
      await serve(readConfig(), service)
    })
  addHelp(cli, serve, { examples: ['', 'PORT=8080 $0 serve'], settings })

  const healthcheck = program
    .command('healthcheck')
    .description('ask the running service whether it is ready, and set the exit code')
    .option(...jsonOption)
    .action(async (options: JsonOption) => printAs(options, await checkHealth(originOf(readConfig())), describeHealth))
  addHelp(cli, healthcheck, { examples: ['healthcheck'], settings: ['host', 'port'] })

  const openapi = program
    .command('openapi')
    .description('print the OpenAPI document of the REST API')
    .action(async () => {
      const { createDocument } = await import('../rest/document.ts')
      const { serversOf } = await import('../rest/reference.ts')
      const config = readConfig()
      print(
        JSON.stringify(createDocument(router, product, serversOf(config, publicAddressOf(config, config))), null, 2),
      )
    })
  addHelp(cli, openapi, {
    examples: ['openapi > openapi.json', `PUBLIC_URL=${product.exampleUrl} $0 openapi`],
    settings: ['publicUrl', 'stagingUrl', 'host', 'port'],
  })
}

export function addDoctorCommand(program: Command, cli: Cli): void {
  const { product, definition, configuration } = cli
  const { command } = product
  const doctor = program
    .command('doctor')
    .description('examine the configuration and the database, say what is wrong and what to do, and set the exit code')
    .option(...jsonOption)
    .action(async (options: JsonOption) => {
      const { config, findings } = examineConfig(configuration)
      const all = await examine(findings, config && { ...config, command, definition })
      printAs(options, all, describeFindings)
      if (all.some(({ status }) => status === 'failure')) process.exitCode = 1
    })
  addHelp(cli, doctor, { examples: ['doctor', 'doctor --json'], settings: cli.configuration.settings })
}

function examineConfig({ readConfig }: Configuration): { config?: Config; findings: Finding[] } {
  try {
    return { config: readConfig(), findings: [finding('configuration', ok('The configuration is valid.'))] }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return {
      findings: [finding('configuration', failure(error.message.replace(/\n */, ' ').replaceAll(/\n */g, '; ')))],
    }
  }
}
