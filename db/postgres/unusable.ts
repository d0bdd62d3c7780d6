import { describeLocation } from '../location.ts'
import { reasons, UnusableDatabase } from '../unusable-database.ts'
import { causeOf } from './failure.ts'

/** Says to the operator, in one sentence, why the database at this address cannot be used, and what to do. */
export function unusable(url: string, error: unknown): UnusableDatabase {
  if (error instanceof UnusableDatabase) return error
  return new UnusableDatabase(describeLocation({ kind: 'postgres', url }), reason(causeOf(error)), { cause: error })
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) throw error
  // From the driver for SCRAM, without a code, and from the server for other methods.
  if (/client password must be a string|empty password/.test(error.message))
    return 'it asks for a password; set PGPASSWORD, or put the password into the address'
  switch ('code' in error ? error.code : undefined) {
    case 'ECONNREFUSED':
      return 'nothing listens there; start PostgreSQL, or correct the address'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host is not known; correct the address'
    case '28P01':
    case '28000':
      return `${error.message}; correct the address, or let this user in`
    case '3D000':
      return `${error.message}; make it with CREATE DATABASE, or correct the address`
    case '25006':
      return `${error.message}; wait until the server accepts writes, or correct the address`
    case '42501':
      return `${error.message}; GRANT this user the right to create tables in its schema`
    case '42P01':
    case '42703':
      return 'it has no tables of this service; name another database'
    case '42P07':
      return reasons.foreign
    case '55P03':
      return reasons.locked
    default:
      return `${error.message || String(error)}; check PostgreSQL and the address`
  }
}
