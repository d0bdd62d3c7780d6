import { isPetstoreError, type NewPet } from '../../client/index.ts'
import type { ApiCall } from '../requests/texts.ts'
import { messages } from './messages.ts'
import { petResource as resource } from './pet.ts'
import { type PageQuery, type PetQuery, pageSize } from './queries.ts'
import type { View } from './view.ts'

/** The call for the page that a view shows. */
export function pageCall({ status, cursor }: View, { data, isPlaceholderData, failureReason }: PageQuery): ApiCall {
  return {
    title: messages.calls.list,
    resource,
    operation: 'list',
    input: { status, cursor: cursor || undefined, limit: pageSize },
    // The page was loaded with one more pet.
    response: isPlaceholderData ? undefined : (data?.slice(0, pageSize) ?? errorBodyOf(failureReason)),
  }
}

/** The call for one pet, and the one that replaces it. */
export function petCalls(petId: bigint, { data, failureReason }: PetQuery): ApiCall[] {
  const { get, find } = messages.calls
  const input = { cursor: petId - 1n, limit: 1 }
  return [
    { title: get, resource, operation: 'get', input: { petId }, response: data ?? errorBodyOf(failureReason) },
    { title: find, resource, operation: 'list', input, response: data && [data] },
  ]
}

/** @param error the error of the last attempt to add this pet */
export function createCall(input: NewPet, idempotencyKey: string, error: unknown): ApiCall {
  const title = messages.calls.create
  return { title, resource, operation: 'create', input, idempotencyKey, response: errorBodyOf(error) }
}

/** The body of an error response of the REST API. Undefined if the service did not respond. */
function errorBodyOf(error: unknown): object | undefined {
  if (!isPetstoreError(error) || !error.data) return undefined
  const { code, message, status } = error.data
  return { code, message, status }
}
