/** The fields that every line has, and those that the tests read. */
export interface LogLine {
  level: string
  time: string
  msg: string
  requestId?: string
  action?: string
  subject?: string
  err?: { type: string; message: string }
  [field: string]: unknown
}

/** The log lines in the output of a process. */
export function logLinesIn(output: string): LogLine[] {
  return linesIn(output)
    .filter(isLogLine)
    .map((line): LogLine => JSON.parse(line))
}

export function auditLinesIn(output: string): LogLine[] {
  return logLinesIn(output).filter(({ msg }) => msg === 'audit')
}

/** The standard error output of a command without its audit lines. */
export function notesIn(output: string): string {
  return linesIn(output)
    .filter((line) => !isLogLine(line))
    .join('')
}

function linesIn(output: string): string[] {
  return output.match(/.+\n?/g) ?? []
}

function isLogLine(line: string): boolean {
  return line.startsWith('{')
}
