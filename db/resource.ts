import { getTableColumns, type Table } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Migration, readMigrations } from './migrations.ts'
import type { PostgresResource } from './postgres/resource.ts'
import type { SqliteResource } from './sqlite/resource.ts'

/** What the engines know of resources: a list, which they get as an argument, and tables, from which they derive the rest. */

/** A row as the store returns it. A column that is NULL is absent. */
export type Entity<T extends Table> = AbsentIfNull<T['$inferSelect']>

/** A row without the id, which the database generates. */
export type NewEntity<T extends Table> = Omit<Entity<T>, 'id'>

type Nullable<Row> = { [Name in keyof Row]-?: null extends Row[Name] ? Name : never }[keyof Row]

type AbsentIfNull<Row> = {
  [Name in keyof Row as Name extends Nullable<Row> ? never : Name]: Row[Name]
} & { [Name in Nullable<Row>]?: NonNullable<Row[Name]> | undefined }

/** A page in ascending order of id: at most `limit` rows whose id is greater than `cursor`. A filter compares for equality. */
export type PageQuery<T extends Table, Filter extends keyof T['$inferSelect'] = never> = {
  limit: number
  cursor: bigint
} & { [Name in Filter]?: T['$inferSelect'][Name] | undefined }

/** The fields of a new row, in the order of the columns. */
export function givenFields(table: Table): string[] {
  return Object.keys(getTableColumns(table)).filter((field) => field !== 'id')
}

/** A resource on each database. Only the modules of one of them are loaded. */
export interface Resource<S = object> {
  sqlite(): Promise<SqliteResource<S>>
  postgres(): Promise<PostgresResource<S>>
}

/** The fields whose types differ; never if none. */
type Differing<A, B> = {
  [Name in keyof A | keyof B]-?: Name extends keyof A & keyof B
    ? [Pick<A, Name>, Pick<B, Name>] extends [Pick<B, Name>, Pick<A, Name>]
      ? never
      : Name
    : Name
}[keyof A | keyof B]

/** Pairs the modules of a resource. It does not compile if the rows of their tables differ. */
export function resource<S, L extends SQLiteTable, P extends PgTable>(
  sqlite: () => Promise<SqliteResource<S, L>>,
  postgres: (() => Promise<PostgresResource<S, P>>) &
    ([Differing<L['$inferSelect'], P['$inferSelect']>] extends [never]
      ? unknown
      : { differing: Differing<L['$inferSelect'], P['$inferSelect']> }),
): Resource<S> {
  return { sqlite, postgres }
}

/** Every resource of a service by its name, each after those that its foreign keys refer to. */
export interface ResourceList<Stores = Record<string, object>> {
  /** The address of the module that exports the list as `resources`. Threads import it. */
  url: string
  /** The folders with the migrations of all tables. */
  migrations: Record<'sqlite' | 'postgres', URL[]>
  resources: { [Name in keyof Stores]: Resource<Stores[Name]> }
}

/** A list of any resources. */
type AnyList = Omit<ResourceList, 'resources'> & { resources: object }

/** The resources and migrations of one kind of database. */
export interface Loaded<R> {
  /** See {@link ResourceList}. */
  url: string
  migrations: Migration[]
  resources: Record<string, R>
}

export function migrationsOf({ migrations }: AnyList, kind: 'sqlite' | 'postgres'): Migration[] {
  return readMigrations(migrations[kind])
}

export function loadForSqlite(list: AnyList): Promise<Loaded<SqliteResource>> {
  return load(list, 'sqlite', ({ sqlite }) => sqlite())
}

export function loadForPostgres(list: AnyList): Promise<Loaded<PostgresResource>> {
  return load(list, 'postgres', ({ postgres }) => postgres())
}

async function load<R>(
  list: AnyList,
  kind: 'sqlite' | 'postgres',
  modulesOf: (resource: Resource) => Promise<R>,
): Promise<Loaded<R>> {
  const modules = Object.entries<Resource>({ ...list.resources }).map(async ([name, each]) => [
    name,
    await modulesOf(each),
  ])
  return {
    url: list.url,
    migrations: migrationsOf(list, kind),
    resources: Object.fromEntries(await Promise.all(modules)),
  }
}
