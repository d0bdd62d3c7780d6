import { type BaseStore, describeLocation, type Location, openStore } from '#store'
import type { MigrateOptions } from '#store/operator'
import { closeAfter } from '../closing.ts'
import { type Config, environment } from '../config.ts'
import { OperatorError } from '../operator/operator-error.ts'
import { type Audit, auditTo } from '../telemetry/audit.ts'
import { createLog } from '../telemetry/log.ts'
import type { Cli } from './cli.ts'
import { note } from './output.ts'

/** Opens the store of the configuration for one command, and closes it. A database of another release is refused. */
export async function withStore<Stores>(
  { configuration, definition }: Cli<Stores>,
  use: (store: BaseStore & Stores, audit: Audit, database: Location) => Promise<void>,
  { create = false } = {},
): Promise<void> {
  const config = configuration.readForCommand()
  const { database } = config
  const audit = auditOf(config)
  let damage: string | undefined
  const store = await openStore(definition, database, {
    create,
    // Only a start and `db migrate` migrate: an older release may still use the database, and there is no way back.
    migrate: false,
    historyDays: config.historyDays,
    ...reportsOn(database, audit),
    onDamage: (message) => {
      damage = message
    },
  })
  const outcome = await Promise.allSettled([
    closeAfter(
      () => store.close(),
      () => use(store, audit, database),
    ),
  ])
  // Instead of the error that it caused, because only this sentence says what was saved.
  if (damage !== undefined) throw new OperatorError(damage)
  if (outcome[0].status === 'rejected') throw outcome[0].reason
}

/** Reports what is done to a database before it is used. */
export function reportsOn(database: Location, audit: Audit): MigrateOptions {
  return {
    onMigrate(migrations, isNew) {
      audit('database.migrate', describeLocation(database), { migrations })
      if (isNew) note(`Created the database ${describeLocation(database)}.`)
    },
    onWarning: note,
  }
}

/** Audit lines of a command go to standard error, for the log collector. Notes are for the person who runs the command. */
export function auditOf(config: Config): Audit {
  // The guides run commands as the user of the service.
  return auditTo(createLog(config, process.stderr), environment.SUDO_USER)
}

/** The path of the database and its audit lines, for commands that only SQLite has. */
export function databaseFile(config: Config): { path: string; audit: Audit } {
  if (config.database.kind === 'sqlite') return { path: config.database.path, audit: auditOf(config) }
  throw new OperatorError(
    'DATABASE_URL names a PostgreSQL database: use pg_dump and pg_restore to back it up and restore it.',
  )
}
