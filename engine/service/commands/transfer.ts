import { extname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { AnyRouter } from '@trpc/server'
import { type Command, Option } from 'commander'
import { type BaseStore, describeLocation } from '#store'
import { ownershipOf } from '#store/operator'
import type { Transfer } from '../api/transfer.ts'
import { count, withProgress } from '../operator/format.ts'
import { UsageError } from '../operator/operator-error.ts'
import { joinWords } from '../reader/texts.ts'
import { exportItems, type Write, writeFile, writeStream } from '../transfer/export.ts'
import { type Format, filtersOf } from '../transfer/fields.ts'
import { importItems } from '../transfer/import.ts'
import { withInput } from '../transfer/input.ts'
import { addCommand, type Cli, withHelp } from './cli.ts'
import { withStore } from './open-store.ts'
import { type JsonOption, note, printAs, refuseJson } from './output.ts'

/** The transfer of any items. Safe, because their schema makes each item that their collection gets. */
type AnyTransfer<Stores> = Transfer<BaseStore & Stores, unknown>

interface ExportArguments extends JsonOption {
  format?: Format
  force?: true
  [filter: string]: unknown
}

interface ImportArguments extends JsonOption {
  format?: Format
  key?: string
  skipInvalid?: true
}

export function addFileCommands<Stores>(
  program: Command,
  cli: Cli<Stores>,
  resource: AnyTransfer<Stores>,
  router: AnyRouter,
): void {
  const { plural } = resource
  const filters = filtersOf(router, plural)
  const examples = [`${plural} export ${plural}.ndjson`, `${plural} import ${plural}.csv`]
  const group = withHelp(cli, program.command(plural), `export and import ${plural}`, examples)

  const filtered = filters.flatMap(({ option, values }) =>
    values.slice(-1).map((value) => `$0 ${plural} export ${option} ${value} | gzip > ${value}.ndjson.gz`),
  )
  const exportExamples = [`${plural} export ${plural}.csv`, ...filtered]
  const writing = `write all ${plural} to a file or to standard output, as NDJSON or CSV`
  const exporting = addCommand(cli, group, 'export [file]', writing, exportExamples)
  exporting.addOption(formatOption('by default that of the ending of the name; ndjson for standard output'))
  for (const { name, option: flag, values, parse } of filters) {
    const option = new Option(`${flag} <${name}>`, `export only ${plural} of this ${name}`)
    // Commander takes a name that begins with `no-` for the negation of another option.
    option.negate = false
    exporting.addOption(values.length > 0 ? option.choices(values) : option.argParser(parse))
  }
  exporting
    .option('--force', 'overwrite an existing file')
    .hook('preAction', keepHeapSmall)
    .action((file: string | undefined, options: ExportArguments) =>
      exportToFile(cli, resource, file === '-' ? undefined : file, options),
    )

  const creating = `create the ${plural} of a CSV, NDJSON or JSON file (- for standard input); repeat it after an interruption`
  const imports = [
    `${plural} import ${plural}.csv`,
    `zcat ${plural}.ndjson.gz | $0 ${plural} import - --key move-to-shop`,
  ]
  addCommand(cli, group, 'import <file>', creating, imports)
    .addOption(formatOption('by default that of the ending of the name or of the content'))
    .option('--key <text>', 'identifies the import, instead of the path of the file; required for standard input')
    .option('--skip-invalid', 'import the valid lines of a file, and list the invalid ones')
    .hook('preAction', keepHeapSmall)
    .action((file: string, options: ImportArguments) => importFromFile(cli, resource, file, options))
}

/** Otherwise V8 lets the young generation grow to 128 MiB, and a command with a million rows needs 300 MB of memory. */
function keepHeapSmall(): void {
  setFlagsFromString('--optimize-for-size')
}

const formatsByEnding: Partial<Record<string, Format>> = { '.csv': 'csv', '.ndjson': 'ndjson', '.jsonl': 'ndjson' }

function formatOf(file: string): Format | undefined {
  return formatsByEnding[extname(file).toLowerCase()]
}

function formatOption(byDefault: string): Option {
  return new Option('--format <format>', byDefault).choices(['ndjson', 'csv'])
}

async function exportToFile<Stores>(
  cli: Cli<Stores>,
  resource: AnyTransfer<Stores>,
  file: string | undefined,
  { format, force, json, ...filters }: ExportArguments,
): Promise<void> {
  if (file === undefined) refuseJson({ json }, `the ${resource.plural}`)
  const chosen = format ?? (file === undefined ? 'ndjson' : formatOf(file))
  // A file such as `.xlsx` would contain something else than its name says.
  if (!chosen) {
    const endings = joinWords(Object.keys(formatsByEnding), 'or')
    throw new UsageError(`The name of ${file} does not end with ${endings}. Choose another name, or a --format.`)
  }
  await withStore(cli, async (store, audit, database) => {
    const path = database.kind === 'sqlite' ? database.path : undefined
    const ownership = path === undefined ? undefined : ownershipOf(path)
    const progress = (done: number) => `Exported ${done} ${resource.plural}`
    const { written, sha256 } = await withProgress(progress, (onProgress) => {
      const options = { format: chosen, filters, onProgress }
      const work = (write: Write) => exportItems(resource, resource.collection(store), write, options)
      return file === undefined
        ? writeStream(process.stdout, work)
        : writeFile(file, { overwrite: force === true, database: path, ownership }, work)
    })
    audit(`${resource.plural}.export`, describeLocation(database), { rows: written })
    const describe = () => `Exported ${count(written, resource.name, resource.plural)}, SHA-256 ${sha256}.`
    printAs({ json }, { file: file ?? null, exported: written, sha256 }, describe, note)
  })
}

async function importFromFile<Stores>(
  cli: Cli<Stores>,
  resource: AnyTransfer<Stores>,
  file: string,
  options: ImportArguments,
): Promise<void> {
  const { name, plural } = resource
  const { key, skipInvalid } = options
  const format = options.format ?? formatOf(file)
  await withInput(file, async (input) => {
    // An empty one may be a variable that is not set.
    if (key === '' || (input.path === undefined && key === undefined))
      throw new UsageError(
        `An import of ${input.name} needs --key: a text that identifies it, so that it can be repeated after an interruption.`,
      )
    let skipped = 0
    const skip = (description: string) => {
      skipped++
      note(`Skipped ${description}`)
    }
    await withStore(
      cli,
      async (store, audit, database) => {
        const progress = (done: number) => `Imported ${done} ${plural}`
        const { created, existing } = await withProgress(progress, (onProgress) =>
          importItems(resource, resource.collection(store), input, {
            format,
            key,
            onInvalid: skipInvalid && skip,
            onProgress,
          }),
        )
        if (created > 0) audit(`${plural}.import`, describeLocation(database), { from: input.name, rows: created })
        const result = { file: input.name, valid: created + existing, skipped, created, existing }
        const describe = () =>
          `${input.name}: ${count(created, name, plural)} created, ${existing} already imported, ${count(skipped, 'invalid line')} skipped.`
        printAs(options, result, describe)
      },
      { create: true },
    )
  })
}
