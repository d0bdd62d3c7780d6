import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Location } from '#store'
import { OperatorError, UsageError } from './operator-error.ts'

/** The location of a database in the format of DATABASE_URL. The examples of the message have the name of the command. */
export function databaseUrl(command: string) {
  return z
    .string()
    .trim()
    .refine((url) => !hasSeveralHosts(url), {
      error:
        'expected one host, the address of the cluster: that of HAProxy, the -rw service of CloudNativePG, or the endpoint of RDS',
    })
    .transform((url, context): Location => {
      if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url) && !hasControlCharacter(url))
        return { kind: 'postgres', url }
      const path = pathOf(url)
      if (/^file:.*[?#]/.test(url)) context.addIssue('expected a path without ? and #')
      else if (url.startsWith('file:~'))
        context.addIssue(`expected a path without ~, such as file:/home/me/${command}.db`)
      else if (path === undefined) {
        context.addIssue(
          `expected a file, such as file:data/${command}.db, or a PostgreSQL database, such as postgres://user@host/${command}`,
        )
      }
      return { kind: 'sqlite', path: path ?? '' }
    })
}

/** libpq allows a list of hosts. A password may have a comma, too. */
function hasSeveralHosts(url: string): boolean {
  const [, authority = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)/.exec(url) ?? []
  return authority.slice(authority.lastIndexOf('@') + 1).includes(',')
}

/** Parses the value of an option. The message names the option but not the value, which may contain a password. */
export function parseLocation(command: string, text: string, name: string): Location {
  const { data, error } = databaseUrl(command).safeParse(text)
  if (data) return data
  throw new UsageError(`${name}: ${error.issues.map(({ message }) => message).join(', ')}.`)
}

/** A database in memory is refused, because threads cannot share it. */
function pathOf(url: string): string | undefined {
  if (!/^file:[^?#]+$/.test(url) || url.includes(':memory:')) return undefined
  try {
    const path = url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length)
    return isFileName(path) ? resolve(path) : undefined
  } catch {
    return undefined
  }
}

/** The driver of SQLite removes white space around a name, and so would open another file. Only a shell expands `~`. */
function isFileName(path: string): boolean {
  return path !== '' && path === path.trim() && !path.startsWith('~') && !hasControlCharacter(path)
}

export function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text)
}

/** The absolute path of an argument that names a database file. It is not trimmed: the file that is meant may exist. */
export function parseFile(text: string): string {
  if (isFileName(text)) return resolve(text)
  throw new UsageError(
    `${JSON.stringify(text)} cannot name a database file: expected a path without white space around it, ~ at its start, or control characters.`,
  )
}

/** Like {@link parseFile}, for a backup that must exist. */
export function parseBackup(text: string): string {
  const file = parseFile(text)
  if (!existsSync(file)) throw new OperatorError(`There is no backup ${file}. Check the path.`)
  return file
}
