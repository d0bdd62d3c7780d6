import type { ComponentProps } from 'react'
import { textOf } from '#service/fields'
import { capitalized, joined, listOf, shownText } from '../../formats.ts'
import type { Edit, Noun, Resource, Values } from '../../resource.ts'
import { actionOf, theAddition } from '../edit-key.ts'
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
  const title = titleOf(resource, edit)
  if (!edit.set) {
    const text = status === 'pending' ? removingText(listOf(titlesOf(resource, removed))) : removedText(title)
    return actionOf(edit.idempotencyKey).undoes === theAddition ? `Addition undone: ${text}` : text
  }
  const { field, label, shown, isOne } = changedBy(resource, edit)
  const value = shown(edit.set)
  const text =
    isOne && field?.choices
      ? `${title} is ${value.toLowerCase()}.`
      : `${label} of ${title} ${isOne ? 'is' : 'are'} now ${value || 'empty'}.`
  return edit.undoes ? `Change undone. ${text}` : text
}

export function titlesOf(resource: Resource, edits: Edit[]): string[] {
  return edits.map((edit) => titleOf(resource, edit))
}

/** Without the white space around it, which would stand before the next word or the period. */
function titleOf(resource: Resource, { seen }: Edit): string {
  return textOf(seen[resource.title]).trim() || headingOf(resource, seen.id)
}

/** What tells an item from others: names need not be unique. */
export function headingOf({ one, title }: Resource, id: bigint, values: Values = {}): string {
  const name = textOf(values[title])
  return name === '' ? `${capitalized(one)} ${id}` : `${name} #${id}`
}

function removingText(title: string): string {
  return `${title} will be removed.`
}

/** @param by the name of an API key */
export function removedText(title: string, by?: string): string {
  return `${title} was removed${by === undefined ? '' : ` by ${by}`}.`
}

/** Says a value that was not saved. */
export function valueText(value: string, isFormer = false): string {
  return `${isFormer ? 'Former' : 'Your'} value: ${quoted(value)}.`
}

/**
 * Says what somebody else has changed, so that an edit was not saved.
 *
 * @param by the name of an API key
 * @param values those that the item has now
 */
export function conflictText(
  resource: Resource,
  edit: Edit,
  title: string,
  by = 'Someone',
  values: Values = {},
): string {
  if (!edit.set) return `${by} changed ${title}, so it was not removed.`
  const { label, shown } = changedBy(resource, edit)
  return `${by} changed the ${label.toLowerCase()} of ${title} to ${quoted(shown(values))}.`
}

/** A value in a sentence, such as `“Ball”`. */
export function quoted(value: string): string {
  return value ? `“${value}”` : 'nothing'
}

/** The fields that an edit changes, and how the user sees their values. */
export function changedBy(resource: Resource, { set = {} }: Edit) {
  const changed = resource.fields.filter(({ name }) => name in set)
  return {
    field: changed[0],
    label: listOf(changed.map(({ label }) => label)),
    isOne: changed.length === 1,
    shown: (values: Values) =>
      changed
        .map((field) => shownText(field, values[field.name]).trim() || (changed.length > 1 ? 'nothing' : ''))
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
