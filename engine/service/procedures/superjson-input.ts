import { ApiError } from '../api/errors.ts'
import { isTime } from '../api/literals.ts'
import { timeFormat } from '../api/time.ts'
import { isRecord, shorten } from '../api/validation.ts'

/** Enough for an integer of 128 bits. The time to parse digits grows faster than their number. */
const maxDigits = 40

/** What the JSON must hold where an input is annotated with a type. Other types are for values that no input contains. */
const annotatedTypes: Record<string, string> = {
  bigint: `a string of 1 to ${maxDigits} decimal digits`,
  Date: timeFormat,
  number: 'the string NaN, Infinity, -Infinity or -0',
  undefined: 'null',
}
const digits = new RegExp(`^-?[0-9]{1,${maxDigits}}$`)
const specialNumbers = ['NaN', 'Infinity', '-Infinity', '-0']

/**
 * Decodes an input of superjson. superjson's own decoder is lenient: it rounds numbers to a `bigint`, drops an input without
 * an envelope, creates what an annotation names, and builds values of any size. This decoder returns exactly the values of
 * the JSON, except for annotated ones, or throws `invalid_request`. It changes the JSON in place.
 */
export function decodeSuperjson(serialized: unknown): unknown {
  if (!isRecord(serialized) || !Object.hasOwn(serialized, 'json') || !hasOnly(serialized, ['json', 'meta']))
    throw invalid('expected an object with the input as json, and its annotations as meta')
  const { json, meta = {} } = serialized
  if (!isRecord(meta) || !hasOnly(meta, ['values', 'referentialEqualities', 'v']))
    throw invalid('meta: expected an object with values, referentialEqualities and v')
  const { values = {}, referentialEqualities = {}, v = 0 } = meta
  if (v !== 0 && v !== 1) throw invalid('meta.v: expected 0 or 1')

  const root = { json }
  refuseDeduplicated(root, referentialEqualities)
  // The annotation of the input itself is not in an object.
  if (!isRecord(values)) decodeAt({ parent: root, key: 'json' }, values, 'json')
  else for (const [path, type] of Object.entries(values)) decodeAt(findPlace(root, path), type, path)
  return root.json
}

/** superjson's option `dedupe` leaves null where an object occurs again, and null could stand for no value. */
function refuseDeduplicated(root: { json: unknown }, equalities: unknown): void {
  const paths = Object.values(isRecord(equalities) ? equalities : [equalities]).flat(2)
  for (const path of paths) {
    if (typeof path !== 'string') throw invalid('meta.referentialEqualities: expected paths, which are texts')
    const { parent, key } = findPlace(root, path)
    if (parent[key] === null) throw invalid(`${shorten(path)}: expected superjson without its option dedupe`)
  }
}

/** A value in the JSON. */
interface Place {
  parent: Record<string, unknown>
  key: string
}

function decodeAt({ parent, key }: Place, annotation: unknown, path: string): void {
  const [type, ...others] = Array.isArray(annotation) ? annotation : []
  if (typeof type !== 'string' || !Object.hasOwn(annotatedTypes, type) || others.length > 0)
    throw invalid(`meta.values: expected one of the types ${Object.keys(annotatedTypes).join(', ')} for each path`)
  const value = parent[key]
  const text = typeof value === 'string' ? value : ''
  if (type === 'bigint' && digits.test(text)) parent[key] = BigInt(text)
  else if (type === 'Date' && isTime(text)) parent[key] = new Date(text)
  else if (type === 'number' && specialNumbers.includes(text)) parent[key] = Number(text)
  else if (type === 'undefined' && value === null) parent[key] = undefined
  else throw invalid(`${shorten(path)}: expected ${annotatedTypes[type]}, because it is annotated as ${type}`)
}

/** No field has a dot or a backslash in its name. Version 1 of superjson escapes them, and such a path is refused. */
function findPlace(root: { json: unknown }, path: string): Place {
  let place: Place = { parent: root, key: 'json' }
  const hasEscapes = path.includes('\\')
  for (const key of path.split('.')) {
    const parent = place.parent[place.key]
    if (hasEscapes || typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key))
      throw invalid(`meta: the path ${shorten(path)} leads to no value of json`)
    // An array has its elements under their indices, too.
    place = { parent: parent as Record<string, unknown>, key }
  }
  return place
}

function hasOnly(record: Record<string, unknown>, names: string[]): boolean {
  return Object.keys(record).every((name) => names.includes(name))
}

function invalid(reason: string): ApiError {
  return new ApiError('invalid_request', `The input is not valid superjson: ${reason}.`)
}
