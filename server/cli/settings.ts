import { pathToFileURL } from 'node:url'
import type { Location } from '../../db/location.ts'
import { startOf } from '../auth/api-key.ts'
import { defaultOf, environment, readConfig, readVariables, type VariableName, variableNames } from '../config.ts'
import { closestName } from './suggestion.ts'

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
    return { name, value: given === undefined ? defaultOf(name) : withoutPassword(given), source }
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

function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  if (url.password === '') return text
  url.password = '***'
  return url.href
}

/** Warns of each variable that is not known and looks like a misspelled one that is not set. */
export function misspelledVariables(env = environment): string[] {
  const variables = readVariables(env)
  const unset = variableNames.filter((name) => variables[name] === undefined)
  return Object.keys(env).flatMap((name) => {
    if (variableNames.some((known) => known === name)) return []
    const upper = name.toUpperCase()
    const meant = unset.find((known) => isSwapped(upper, known)) ?? closestName(upper, unset.filter(isLong))
    return meant === undefined ? [] : [`The variable ${name} is not known. Did you mean ${meant}?`]
  })
}

/** Whether two neighbouring letters of the name are swapped, as in PROT. */
function isSwapped(given: string, name: string): boolean {
  const at = [...name].findIndex((letter, index) => letter !== given[index])
  return at >= 0 && given === `${name.slice(0, at)}${name[at + 1]}${name[at]}${name.slice(at + 2)}`
}

/** A short name, such as PORT, differs in one letter from many names that belong to other programs, such as POST. */
function isLong(name: string): boolean {
  return name.length >= 8
}
