import { userInfo } from 'node:os'
import type { Logger } from 'pino'
import type { ApiKey } from '#store'

type AuditAction =
  | 'key.create'
  | 'key.rotate'
  | 'key.revoke'
  | 'key.register'
  | 'database.migrate'
  | 'database.backup'
  | 'database.restore'
  | 'database.copy'
  | `${string}.import`
  | `${string}.export`

/**
 * Writes the audit line of an action that has succeeded. The subject must not contain a secret: see {@link describeKey} and
 * `describeLocation` in `engine/store/database/location.ts`.
 */
export type Audit = (action: AuditAction, subject: string, details?: object) => void

/** Audit lines are written whatever LOG_LEVEL is: a quiet log must not hide that a key was made. */
export function auditTo(log: Logger, user = systemUser()): Audit {
  const audit = log.child({}, { level: 'info' })
  return (action, subject, details) => {
    audit.info({ action, subject, user, ...details }, 'audit')
    // At once, so that a process that is killed does not lose it.
    log.flush()
  }
}

/** The user of the operating system. In a container it may have only a number. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

/** Identifies an API key without its secret. */
export function describeKey({ name, start }: Pick<ApiKey, 'name' | 'start'>): string {
  return `${name} (${start}…)`
}
