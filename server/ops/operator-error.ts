/** Something only the operator can put right. The message is whole sentences for a terminal: what is wrong and what to do. */
export class OperatorError extends Error {
  override name = 'OperatorError'
}
