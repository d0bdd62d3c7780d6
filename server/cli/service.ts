import type { AnyRouter } from '@trpc/server'
import type { Command } from 'commander'
import type { WithApiKeys } from '../../db/keys/store.ts'
import type { ResourceList } from '../../db/resource-list.ts'
import type { About } from '../about.ts'
import { type Config, originOf, readConfig, variableNames } from '../config.ts'
import { describeFindings, examine, type Finding, failure, finding, ok } from '../ops/doctor.ts'
import { checkHealth, describeHealth } from '../ops/healthcheck.ts'
import { OperatorError } from '../ops/operator-error.ts'
import { addHelp, type JsonOption, jsonOption, print, printAs } from './output.ts'

// Only the commands that need Fastify or the generator of the document load them: they take as long as all the rest.

export function addServiceCommands(
  program: Command,
  about: About,
  resources: ResourceList<WithApiKeys>,
  router: AnyRouter,
): void {
  const serve = program
    .command('serve')
    .description('serve REST and typed RPC until stopped (the default)')
    .action(async () => {
      const { serve } = await import('../serve.ts')
      await serve(readConfig(), about, resources, router)
    })
  addHelp(serve, { examples: ['petstore', 'PORT=8080 petstore serve'], variables: variableNames })

  const healthcheck = program
    .command('healthcheck')
    .description('ask the running service whether it is ready, and set the exit code')
    .option(...jsonOption)
    .action(async (options: JsonOption) => printAs(options, await checkHealth(originOf(readConfig())), describeHealth))
  addHelp(healthcheck, { examples: ['petstore healthcheck'], variables: ['HOST', 'PORT'] })

  const openapi = program
    .command('openapi')
    .description('print the OpenAPI document of the REST API')
    .action(async () => {
      const { createDocument } = await import('../rest/document.ts')
      const { serversOf } = await import('../rest/reference.ts')
      const config = readConfig()
      print(JSON.stringify(createDocument(router, about, serversOf(config, originOf(config))), null, 2))
    })
  addHelp(openapi, {
    examples: ['petstore openapi > openapi.json', 'PUBLIC_URL=https://pets.example petstore openapi'],
    variables: ['PUBLIC_URL', 'STAGING_URL', 'HOST', 'PORT'],
  })
}

export function addDoctorCommand(program: Command, resources: ResourceList): void {
  const doctor = program
    .command('doctor')
    .description('examine the configuration and the database, say what is wrong and what to do, and set the exit code')
    .option(...jsonOption)
    .action(async (options: JsonOption) => {
      const { config, findings: configuration } = examineConfig()
      const findings = await examine(configuration, config && { ...config, resources })
      printAs(options, findings, describeFindings)
      if (findings.some(({ status }) => status === 'failure')) process.exitCode = 1
    })
  addHelp(doctor, { examples: ['petstore doctor', 'petstore doctor --json'], variables: variableNames })
}

function examineConfig(): { config?: Config; findings: Finding[] } {
  try {
    return { config: readConfig(), findings: [finding('configuration', ok('The configuration is valid.'))] }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return {
      findings: [finding('configuration', failure(error.message.replace(/\n */, ' ').replaceAll(/\n */g, '; ')))],
    }
  }
}
