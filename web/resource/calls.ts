import { isPetstoreError } from '../../client/index.ts'
import type { ApiCall } from '../requests/texts.ts'
import type { Values } from '../resource.ts'
import type { ItemQuery } from './queries.ts'
import { pageCalls } from './search.ts'
import type { Page } from './use-page.ts'

/** The call for the shown part of the list. */
export function listCall({ resource, texts, view, list }: Page): ApiCall {
  const { items, isPlaceholderData, failureReason } = list
  return {
    title: texts.calls.list,
    resource,
    ...(pageCalls(resource, view, view.size)[0] ?? { operation: 'list', input: { limit: view.size } }),
    response: isPlaceholderData ? undefined : (items ?? errorBodyOf(failureReason)),
  }
}

/** The calls for the shown item: by its id and from the list. A deprecated one is the second. */
export function itemCalls(
  { resource, texts: { calls }, item }: Pick<Page, 'resource' | 'texts'> & { item: ItemState },
  id: bigint,
): ApiCall[] {
  const get = { title: calls.get(resource.isGetDeprecated === true), input: { [resource.idName]: id } }
  const find = { title: calls.find, input: { cursor: id - 1n, limit: 1 } }
  const both: ApiCall[] = [
    { ...get, resource, operation: 'get', response: item.data ?? errorBodyOf(item.failureReason) },
    { ...find, resource, operation: 'list', response: item.data && [item.data] },
  ]
  return resource.isGetDeprecated ? both.reverse() : both
}

type ItemState = Pick<ItemQuery, 'data' | 'failureReason'>

/** The call that adds an item. */
export function createCall({ resource, texts, newItem }: Page, input: Values): ApiCall {
  const response = newItem.wasSent(input) ? errorBodyOf(newItem.error) : undefined
  const idempotencyKey = newItem.idempotencyKeyOf(input)
  return { title: texts.calls.create, resource, operation: 'create', input, idempotencyKey, response }
}

/** The body of an error response of the REST API. Undefined if the service did not respond. */
function errorBodyOf(error: unknown): object | undefined {
  if (!isPetstoreError(error) || !error.data) return undefined
  const { code, message, status } = error.data
  return { code, message, status }
}
