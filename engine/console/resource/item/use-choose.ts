import { textOf } from '#service/fields'
import { shownText } from '../../formats.ts'
import { type Field, type Item, isSame } from '../../resource.ts'
import { useList, useResource } from '../page-context.ts'

/** Sets a choice of an item. If the item has it already, the notice says that, in place of an older one. */
export function useChoose() {
  const { resource, open } = useResource()
  const { edit } = useList()
  return (item: Item, field: Field, value: unknown) => {
    if (!isSame(item[field.name], value)) return edit(item, { [field.name]: value })
    const unchanged = `${textOf(item[resource.title])} is already ${shownText(field, value).toLowerCase()}.`
    open({ kind: 'editMany', edits: [], same: 1, unchanged, startsAtOnce: true })
  }
}
