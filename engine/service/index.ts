/** A typed service from one tRPC router: see README.md. */

// Make the procedures.

export { sessionRouter } from './auth/session.ts'
export { createTrpc } from './procedures/trpc.ts'

// Read the names, methods and paths of the procedures, for a page.

export { proceduresOf } from './procedures/procedures.ts'

// Describe what goes in and out.

export { Int64 } from './api/int64.ts'
export { resource } from './api/resource.ts'
export { line, partOfLine, Text } from './api/text.ts'
export { Time } from './api/time.ts'
export { mustBe } from './api/validation.ts'

// Name the product, and its other routes.

export { callerOf } from './own-routes.ts'
export type { Product } from './product.ts'
export { readBody } from './rest/input.ts'
export { defineService } from './service.ts'

// Read an error of a typed client.

export type { RpcError } from './api/errors.ts'

// Stop a start with a sentence for the operator.

export { OperatorError } from './operator/operator-error.ts'

// Run it: the command line of the service, which serves without a command.

export { run } from './commands/program.ts'
