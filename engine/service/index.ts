/**
 * A typed service from one tRPC router: see README.md. In the order of use: make the procedures, describe their inputs,
 * and name the product and its files. `#service/run` runs it.
 */

export type { RpcError } from './api/errors.ts'
export { Int64 } from './api/int64.ts'
export { AnyId, found, foundOf, pageOf, searchOf } from './api/page.ts'
export { expected } from './api/validation.ts'
export { requireApiKey } from './auth/bearer.ts'
export { sessionRouter } from './auth/session.ts'
export type { ImportExport } from './files/fields.ts'
export type { Product } from './product.ts'
export { createTrpc } from './trpc/trpc.ts'
