/** An error that the operator can correct. The message states the problem and the solution in full sentences. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
