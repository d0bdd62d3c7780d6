import { pathToFileURL } from 'node:url'
import type { Location } from '../../db/location.ts'
import { startOf } from '../auth/api-key.ts'
import { defaultOf, environment, readConfig, readVariables, type VariableName, variableNames } from '../config.ts'

/** The effective value of a variable. */
export interface Setting {
  name: VariableName
  /** Without secrets. Null if the variable has no value. */
  value: string | null
  /** `file`: the value was read from the file that another variable names. */
  source: 'default' | 'environment' | 'file'
}

/**
 * Lists the effective values. Of an API key only the start is shown, and of a URL no password.
 *
 * @throws {OperatorError} as {@link readConfig} does
 */
export function describeConfig(env = environment): Setting[] {
  const { apiKey, database } = readConfig(env)
  const variables = readVariables(env)
  return variableNames.map((name) => {
    const given = variables[name]
    const source = given === undefined ? 'default' : 'environment'
    if (name === 'DATABASE_URL') return { name, value: urlOf(database), source }
    if (name === 'PETSTORE_API_KEY' && apiKey !== undefined) {
      return { name, value: `${startOf(apiKey)}…`, source: given === undefined ? 'file' : source }
    }
    if (given === undefined) return { name, value: defaultOf(name), source }
    return { name, value: given, source }
  })
}

/** A value that DATABASE_URL accepts. Without its password, a URL of PostgreSQL needs PGPASSWORD. */
function urlOf(location: Location): string {
  if (location.kind === 'sqlite') return pathToFileURL(location.path).href
  const url = new URL(location.url)
  url.password = ''
  for (const name of [...url.searchParams.keys()]) if (/password/i.test(name)) url.searchParams.delete(name)
  return url.href
}
