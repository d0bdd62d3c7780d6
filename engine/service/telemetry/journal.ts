import { fstatSync } from 'node:fs'

/**
 * Whether systemd's journal reads the output. A program in a terminal may inherit the variable, too.
 *
 * @param stream JOURNAL_STREAM of systemd.exec(5)
 */
export function isJournal(fd: number | undefined, stream: string | undefined): boolean {
  if (fd === undefined || !stream) return false
  const { dev, ino } = fstatSync(fd, { bigint: true })
  return stream === `${dev}:${ino}`
}

/** Adds the priority of syslog(3) to each line, as sd-daemon(3) describes. The journal removes it again. */
export function withPriority(text: string, priority: number): string {
  return text.replaceAll(/^(?=.)/gm, `<${priority}>`)
}

/** @param level pino's number, or 0 for a line that pino does not write */
export function withPriorityOf(level: number, text: string): string {
  if (level >= 60) return withPriority(text, 2)
  if (level >= 50) return withPriority(text, 3)
  if (level >= 40) return withPriority(text, 4)
  // The journal takes a line without a priority as info.
  return level >= 30 || level === 0 ? text : withPriority(text, 7)
}
