import { randomInt } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { type Command, Option } from 'commander'
import { describeLocation } from '../../db/location.ts'
import { ownershipOf } from '../../db/ownership.ts'
import { type PetStatus, petStatuses } from '../../db/resources.ts'
import { count } from '../ops/count.ts'
import { UsageError } from '../ops/operator-error.ts'
import { describeCount, withProgress } from '../ops/progress.ts'
import { type Format, formatOf, formats } from '../ops/transfer/format.ts'
import { addHelp } from './help.ts'
import { withStore } from './open-store.ts'
import { note, print } from './output.ts'

const variables = ['DATABASE_URL'] as const
const maxPets = 10_000_000
const maxSeed = 2 ** 32 - 1

interface ExportArguments {
  format?: Format
  status?: PetStatus
  force?: true
}

interface ImportArguments {
  format?: Format
  key?: string
  dryRun?: true
  skipInvalid?: true
}

/** The work of these commands is loaded when they run, because the other commands start faster without it. */
export function addPetCommands(program: Command): void {
  const pets = program.command('pets').description('export and import pets')
  addHelp(pets, { examples: ['petstore pets export pets.ndjson', 'petstore pets import pets.csv --dry-run'] })

  const exporting = pets
    .command('export [file]')
    .description('write all pets to a file or to standard output, as NDJSON or CSV')
    .addOption(formatOption())
    .addOption(new Option('--status <status>', 'export only pets of this status').choices(petStatuses))
    .option('--force', 'overwrite an existing file')
    .hook('preAction', keepHeapSmall)
    .action(exportToFile)
  addHelp(exporting, {
    examples: ['petstore pets export pets.csv', 'petstore pets export --status sold | gzip > sold.ndjson.gz'],
    variables,
  })

  const importing = pets
    .command('import <file>')
    .description('create the pets of an NDJSON or CSV file (- for standard input); repeat it after an interruption')
    .addOption(formatOption())
    .option('--key <text>', 'identifies the import instead of the content of the file; required for standard input')
    .option('--dry-run', 'only check the file')
    .option('--skip-invalid', 'import the valid lines of a file that has invalid ones')
    .hook('preAction', keepHeapSmall)
    .action(importFromFile)
  addHelp(importing, {
    examples: ['petstore pets import pets.csv', 'zcat pets.ndjson.gz | petstore pets import - --key move-to-shop'],
    variables,
  })

  const seeding = program
    .command('seed <count>', { hidden: !canMakeUpPets() })
    .description('create realistic pets, for a trial')
    .option('--seed <number>', 'creates the same pets again', (text) => parseNumber(text, '--seed', 0, maxSeed))
    .hook('preAction', keepHeapSmall)
    .action(seed)
  addHelp(seeding, { examples: ['petstore seed 1000', 'petstore seed 1000 --seed 42'], variables })
}

/** The package that makes up pets is installed for development only. Without it, the command says how to install it. */
function canMakeUpPets(): boolean {
  try {
    import.meta.resolve('@faker-js/faker/locale/en')
    return true
  } catch {
    return false
  }
}

/** Otherwise V8 lets the young generation grow to 128 MiB, and a command with a million pets needs 300 MB of memory. */
function keepHeapSmall(): void {
  setFlagsFromString('--optimize-for-size')
}

function formatOption(): Option {
  return new Option('--format <format>', 'by default that of the extension of the file, or ndjson').choices(formats)
}

async function exportToFile(file: string | undefined, { format, status, force }: ExportArguments): Promise<void> {
  const [{ exportPets }, { writeFile, writeStream }] = await Promise.all([
    import('../ops/transfer/export.ts'),
    import('../ops/transfer/output.ts'),
  ])
  await withStore(async (store, _audit, database) => {
    const ownership = database.kind === 'sqlite' ? ownershipOf(database.path) : undefined
    const { pets, sha256 } = await withProgress(process.stderr, describeCount('Exported'), (onProgress) => {
      const options = { format: format ?? formatOf(file), status, onProgress }
      return file === undefined
        ? writeStream(process.stdout, (write) => exportPets(store, write, options))
        : writeFile(file, { overwrite: force === true, ownership }, (write) => exportPets(store, write, options))
    })
    note(`Exported ${count(pets, 'pet')}, SHA-256 ${sha256}.`)
  })
}

async function importFromFile(file: string, options: ImportArguments): Promise<void> {
  const [{ importPets }, { checkImport }, { withInput }] = await Promise.all([
    import('../ops/transfer/import.ts'),
    import('../ops/transfer/check.ts'),
    import('../ops/transfer/input.ts'),
  ])
  const { key, dryRun, skipInvalid } = options
  const format = options.format ?? formatOf(file)
  await withInput(file, async (input) => {
    if (!input.isFile && key === undefined && !dryRun) {
      throw new UsageError(
        `An import of ${input.name} needs --key: a text that identifies it, so that it can be repeated after an interruption.`,
      )
    }
    const check = await withProgress(process.stderr, describeCount('Checked'), (onProgress) =>
      checkImport(input, format, skipInvalid ? note : undefined, onProgress),
    )
    const skipped = `${count(check.problems, 'invalid line')} skipped`
    if (dryRun)
      return print(`${input.name}: ${count(check.pets, 'pet')} can be imported, ${skipped}. Nothing was imported.`)
    await withStore(
      async (store, audit, database) => {
        const { created, existing } = await withProgress(
          process.stderr,
          describeCount('Imported', check.pets),
          (onProgress) => importPets(store, input, { format, check, key, onProgress }),
        )
        if (created > 0) audit('pets.import', describeLocation(database), { from: input.name, rows: created })
        print(`${input.name}: ${count(created, 'pet')} created, ${existing} already existed, ${skipped}.`)
      },
      { create: true },
    )
  })
}

async function seed(text: string, options: { seed?: number }): Promise<void> {
  const pets = parseNumber(text, 'The number of pets', 1, maxPets)
  const { petSource, seedPets } = await import('../ops/transfer/seed.ts')
  const seed = options.seed ?? randomInt(maxSeed + 1)
  const nextPet = await petSource(seed)
  await withStore(
    async (store, audit, database) => {
      await withProgress(process.stderr, describeCount('Created', pets), (onProgress) =>
        seedPets(store, pets, nextPet, onProgress),
      )
      audit('pets.seed', describeLocation(database), { rows: pets })
      note(`Created ${count(pets, 'pet')}. Create the same ones again with --seed ${seed}.`)
    },
    { create: true },
  )
}

function parseNumber(text: string, name: string, min: number, max: number): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  throw new UsageError(`${name} is ${JSON.stringify(text)}: expected an integer from ${min} to ${max}.`)
}
