import { type Field, parseInteger, type Resource, type Values } from '../resource.ts'
import { type Place, parseId } from './view.ts'

/** The largest `limit` of a list and of a search. */
export const maxLimit = 100

/** A page without its history. */
export type PageInput = Pick<Place, 'filter' | 'search' | 'order' | 'cursor' | 'size'>

export interface PageCall {
  operation: 'list' | 'search'
  input: Values & { cursor?: bigint; limit: number }
}

/** How many items a text finds besides those that are paged. Fewer than a page has. */
const maxOthers = 10

/** The calls that load a page. The first one continues on the next page, the others find a few items. */
export function pageCalls(resource: Resource, place: Omit<PageInput, 'size'>, limit: number): PageCall[] {
  const { filter, search, order, cursor } = place
  const page = { ...filter, ...(cursor > 0n && { cursor }), limit }
  if (search === undefined && order === undefined) return [{ operation: 'list', input: page }]
  const [paged, ...others] = search === undefined ? [{ order }] : meaningsOf(resource, search)
  const calls = cursor > 0n ? [] : others.map((by) => ({ ...filter, ...by, limit: maxOthers }))
  const inputs = paged ? [{ ...page, ...paged }, ...calls] : []
  return inputs.map((input) => ({ operation: 'search', input }))
}

/** The id that a text may be. The console shows ids with a number sign, so they can be entered with it. */
export function idIn(text: string): bigint | undefined {
  return parseId(text.trim().replace(/^#/, ''))
}

/** What a text that was searched for may be, as inputs of the search. The first one is paged. */
export function meaningsOf({ fields, title }: Resource, text: string): Values[] {
  const number = parseInteger(text.trim())
  const isInt64 = number !== undefined && BigInt.asIntN(64, number) === number
  const id = isInt64 ? number : idIn(text)
  const searched = fields.filter(({ isSearched }) => isSearched)
  const texts = searched.filter((field) => field.kind === 'text' && isPossible(field, text))
  const titles = texts.filter(({ name }) => name === title)
  const ids = id === undefined ? [] : fields.filter(({ kind }) => kind === 'id')
  const integers = isInt64 ? searched.filter(({ kind }) => kind === 'integer') : []
  const by = (found: Field[], value: unknown): Values[] => found.map(({ name }) => ({ [name]: value }))
  const byText = by([...titles, ...texts.filter((field) => !titles.includes(field))], text)
  const [byInteger, ...byOther] = by(integers, number)
  return byInteger ? [byInteger, ...by(ids, id), ...byText, ...byOther] : [...byText, ...by(ids, id)]
}

/** Whether a text of the field can begin with this text. The service refuses others. */
function isPossible({ maxLength = 0 }: Field, text: string): boolean {
  return [...text].length <= maxLength && !/\p{Cc}|\p{Cs}/u.test(text)
}
