import type { ComponentProps } from 'react'
import { textOf } from '#service/fields'
import type { Edit, Noun, Resource, Values } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { joined, listOf, shownText } from '../../texts/formats.ts'
import type { EditState } from '../edits.ts'
import { useResource } from '../page-context.ts'
import { nameOf } from '../queries.ts'
import { hrefOf, openHere } from '../view.ts'

/**
 * What an edit has done.
 *
 * @param removed all items that are being removed
 */
export function savedText(resource: Resource, { edit, status }: EditState, removed: Edit[]): string {
  const texts = editTextsOf(resource).edit
  const title = titleOf(resource, edit)
  if (edit.undoesAddition)
    return texts.additionUndone(status === 'pending' ? texts.removing(title) : texts.removed(title))
  if (!edit.set)
    return status === 'pending' ? texts.removing(listOf(titlesOf(resource, removed))) : texts.removed(title)
  const { field, label, shown, isOne } = changedBy(resource, edit)
  const value = shown(edit.set)
  const text = isOne && field?.choices ? texts.isNow(title, value) : texts.changedTo(label, title, value, isOne)
  return edit.undoes ? texts.undone(text) : text
}

export function titlesOf(resource: Resource, edits: Edit[]): string[] {
  return edits.map((edit) => titleOf(resource, edit))
}

/** Without the white space around it, which would stand before the next word or the period. */
function titleOf(resource: Resource, { seen }: Edit): string {
  return textOf(seen[resource.title]).trim() || editTextsOf(resource).item.heading(seen.id)
}

/** What tells an item from others: names need not be unique. */
export function headingOf(resource: Resource, id: bigint, values: Values): string {
  const name = textOf(values[resource.title])
  return name === '' ? editTextsOf(resource).item.heading(id) : `${name} #${id}`
}

/** The fields that an edit changes, and how the user sees their values. */
export function changedBy(resource: Resource, { set = {} }: Edit) {
  const { empty } = editTextsOf(resource).changes
  const changed = resource.fields.filter(({ name }) => name in set)
  return {
    field: changed[0],
    label: listOf(changed.map(({ label }) => label)),
    isOne: changed.length === 1,
    shown: (values: Values) =>
      changed
        .map((field) => shownText(field, values[field.name]).trim() || (changed.length > 1 ? empty : ''))
        .join(', '),
  }
}

/** The names in the texts of an edit, which the translation of a browser must not change: the title, and other texts. */
export function namesIn(resource: Resource, edit: Edit, ...values: (Values | undefined)[]): string[] {
  const { field } = changedBy(resource, edit)
  const texts = field?.kind === 'text' ? values.map((each) => textOf(each?.[field.name]).trim()) : []
  return [titleOf(resource, edit), ...texts]
}

/** Makes the attributes of a link to an item. */
export function useItemLink() {
  const { resource, open } = useResource()
  return (id: bigint): Pick<ComponentProps<'a'>, 'href' | 'onClick'> => ({
    href: hrefOf(resource, { item: id }),
    onClick: (event) => openHere(event, () => open({ kind: 'item', id })),
  })
}

interface NamedProps {
  text: string
  names: string[]
  /** Opens the item with the first name. */
  link?: ComponentProps<'a'> | undefined
}

/** A text with names, in their order. */
export function Named({ text, names: [name, ...others], link }: NamedProps) {
  const start = name ? text.indexOf(name) : -1
  if (!name || start === -1) return <span>{text}</span>
  return (
    <>
      <span>{text.slice(0, start)}</span>
      {link ? (
        <a {...link} dir="auto" translate="no">
          {name}
        </a>
      ) : (
        <bdi translate="no">{name}</bdi>
      )}
      <Named text={text.slice(start + name.length)} names={others} />
    </>
  )
}

/** The words for the items that a filter lets through, such as `large toy with size 7`. */
export function nounOf({ one, many, fields }: Resource, filter: Values): Noun {
  const filtered = fields.filter(({ name }) => name in filter)
  const [choices, others] = [true, false].map((isChoice) =>
    filtered.filter((field) => !!field.choices === isChoice).map((field) => nameOf(field, filter[field.name])),
  )
  const phrase = (noun: string) =>
    joined(' ', [...(choices ?? []), noun, !!others?.length && `with ${listOf(others)}`]).toLowerCase()
  return { one: phrase(one), many: phrase(many) }
}
