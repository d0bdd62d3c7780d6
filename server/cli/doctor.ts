import type { Command } from 'commander'
import type { ResourceList } from '../../db/resource-list.ts'
import { type Config, readConfig, variableNames } from '../config.ts'
import { describeFindings, examine } from '../ops/doctor/doctor.ts'
import { type Finding, failure, finding, ok } from '../ops/doctor/finding.ts'
import { OperatorError } from '../ops/operator-error.ts'
import { addHelp } from './help.ts'
import { type JsonOption, jsonOption, printAs } from './output.ts'

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
