/** An error that the operator can correct. The message says in full sentences what is wrong and what to do. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
