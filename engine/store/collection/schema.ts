import { type Column, getTableName, type SQL, sql } from 'drizzle-orm'
import { type Check, type CheckBuilder, check, customType, integer } from 'drizzle-orm/sqlite-core'

/** The columns and rules of a table, for both databases. The databases check the rules, also of rows that are inserted by hand. */

/** A 64-bit integer. Connections with `safeIntegers` return `bigint`, although Drizzle's type is `number`. */
export function int64(name: string) {
  return integer(name).$type<bigint>()
}

/** A time. SQLite holds it as ISO 8601 text in UTC, which sorts chronologically. PostgreSQL holds a timestamp with milliseconds. */
export const timestamp = customType<{ data: Date; driverData: string }>({
  dataType: () => 'text',
  toDriver: (date) => date.toISOString(),
  fromDriver: (iso) => new Date(iso),
})

type Rule = Pick<Check, 'name' | 'value'>

/** The rules whose SQL or name is another one on PostgreSQL, by the SQL of the same rule on SQLite. */
const rulesOfPostgres = new WeakMap<SQL, Rule>()

export function ruleOfPostgres(rule: Rule): Rule {
  return rulesOfPostgres.get(rule.value) ?? rule
}

/** @param postgres the rule on PostgreSQL, if it has another name or other SQL there */
function rule(column: Column, name: string, condition: string, postgres?: [name: string, condition: string]) {
  const ruleName = (suffix: string) => `${getTableName(column.table)}_${column.name}_${suffix}`
  const value = sql.raw(condition)
  if (postgres) rulesOfPostgres.set(value, { name: ruleName(postgres[0]), value: sql.raw(postgres[1]) })
  return check(ruleName(name), value)
}

/** Quotes let a name be a reserved word, and keep PostgreSQL from changing it to lower case. */
function quoted({ name }: Column): string {
  return `"${name}"`
}

export function positiveCheck(column: Column): CheckBuilder {
  return rule(column, 'positive', `${quoted(column)} > 0`)
}

/** Writes a text as a literal of SQL. */
export function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Allows only the values that the `enum` of the column lists. */
export function oneOfCheck(column: Column): CheckBuilder {
  const values = column.enumValues?.map(textLiteral) ?? []
  return rule(column, 'known', `${quoted(column)} IN (${values.join(', ')})`)
}

// The characters that `\s` matches in JavaScript, without control characters, which another rule refuses.
const whiteSpace = [
  32, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288, 65279,
]
const controlCharacters = `'*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*'`

/** A line of text: 1 to `maxLength` characters, not only white space, no control characters. */
export function lineChecks(column: Column, maxLength: number): CheckBuilder[] {
  const name = quoted(column)
  // PostgreSQL's own character classes depend on the locale.
  const escaped = whiteSpace.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')
  return [
    rule(column, 'length', `length(${name}) BETWEEN 1 AND ${maxLength}`),
    rule(column, 'not_blank', `trim(${name}, char(${whiteSpace.join(', ')})) <> ''`, [
      'not_blank',
      `btrim(${name}, E'${escaped}') <> ''`,
    ]),
    rule(column, 'no_control_characters', `instr(${name}, char(0)) = 0 AND ${name} NOT GLOB ${controlCharacters}`, [
      'no_control_characters',
      String.raw`${name} !~ '[\u0001-\u001f\u007f-\u009f]'`,
    ]),
  ]
}

/**
 * On SQLite, the text must have the format of `toISOString` and be a date that exists: then `strftime` returns the same text.
 * The added `Z` makes it refuse words such as `now`. On PostgreSQL, the time must be one that SQLite can hold, too: it is not
 * infinite, and its year is 1 to 9999.
 */
export function timestampCheck(column: Column): CheckBuilder {
  const name = quoted(column)
  return rule(column, 'iso8601', `${name} IS strftime('%Y-%m-%dT%H:%M:%fZ', substr(${name}, 1, 23) || 'Z')`, [
    'in_range',
    `${name} BETWEEN '0001-01-01T00:00:00Z' AND '9999-12-31T23:59:59.999Z'`,
  ])
}
