/** What a typed client of any such service needs: see README.md. */
export { Batch } from './batch.ts'
export {
  type ClientOptions,
  createClient,
  createIdempotencyKey,
  isAborted,
  isServiceError,
  type ServiceClient,
  type ServiceError,
  type ServiceIssue,
  type ServiceRouter,
} from './client.ts'
