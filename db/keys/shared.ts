import { RuleViolation } from '../store.ts'

/** An unrevoked API key has this name. The message is for the operator. */
export class KeyNameTaken extends RuleViolation {
  override name = 'KeyNameTaken'

  constructor(message = 'An unrevoked API key already has this name: choose another one, or rotate that key.') {
    super(message)
  }
}

/** The API key is already revoked. The message is for the operator. */
export class KeyRevoked extends RuleViolation {
  override name = 'KeyRevoked'

  constructor(message = 'The API key was revoked meanwhile.') {
    super(message)
  }
}
