/** An error that the operator can correct. The message states the problem and the solution in full sentences. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}

/** An argument or an option of a command is wrong. The exit code is 2. */
export class UsageError extends OperatorError {
  override name = 'UsageError'
}
