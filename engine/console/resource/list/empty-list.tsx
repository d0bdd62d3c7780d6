import './empty-list.css'
import { useEffect, useRef } from 'react'
import { Button } from '../../components/buttons.tsx'
import { keepFocus, rowOf, titleOfPage } from '../../components/focus.ts'
import { IconPlus, IconSearch, IconTablePlus } from '../../components/icons.tsx'
import { loadLater } from '../../components/load-later.tsx'
import { Message } from '../../components/message.tsx'
import { joined, listOf, listOfAny } from '../../formats.ts'
import type { Edit, Field, Item, Resource } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { nounOf } from '../item/edit-text.tsx'
import { useList, useResource } from '../page-context.ts'
import { partOf } from '../queries.ts'
import { meaningsOf } from '../search.ts'
import { everything, type View } from '../view.ts'
import { Offers } from './other-filters.tsx'

// With it, an empty list would load everything that writes commands.
const ExampleCommand = loadLater(async () => (await import('./example-command.tsx')).ExampleCommand)

/** Explains why the list is empty and offers the next step. */
export function EmptyList({ ownEdits }: { ownEdits: Edit[] }) {
  const { resource, icon, open, turnTo } = useResource()
  const { view, turns } = useList()
  const { isReadOnly } = useAccess()
  const part = partOf(resource, view.filter)
  // The user has removed what was on the page.
  const turnBack = ownEdits.some(({ set, isAddition }) => !set && !isAddition) ? turns.showPrevious : undefined
  const hasTurned = useRef(false)
  useEffect(() => {
    if (!hasTurned.current) turnBack?.(focusLast)
    hasTurned.current = true
  }, [turnBack])
  if (view.cursor > 0n) {
    return (
      <Message
        ref={keepFocus}
        icon={icon}
        title={`No more ${resource.many}`}
        text={`This page is after the last ${resource.one}.`}
      >
        <Button variant="default" onClick={() => turnTo({})}>
          Go to the first page
        </Button>
      </Message>
    )
  }
  if (part || view.search !== undefined) {
    const search = view.search === undefined ? undefined : shortened(view.search.trim())
    return (
      <Message
        ref={keepFocus}
        icon={search ? <IconSearch /> : icon}
        title={`No ${nounOf(resource, view.filter).many}${search === undefined ? '' : ` found for “${search}”`}`}
        text={search && notFound(resource, view, search)}
      >
        <div className="message-actions">
          {search && <Offers variant="filled" />}
          {part && search && (
            <Button variant="default" onClick={() => turnTo({ filter: {} })}>
              Search without the filter
            </Button>
          )}
          <Button variant="default" onClick={() => turnTo(everything)}>
            {`Show all ${resource.many}`}
          </Button>
        </div>
      </Message>
    )
  }
  return (
    <Message
      ref={keepFocus}
      icon={icon}
      title={`No ${resource.many} yet`}
      text="Add the first one here, or send a request."
    >
      {!isReadOnly && (
        <div className="message-actions">
          <Button icon={<IconPlus />} onClick={() => open({ kind: 'add' })}>
            {`Add ${resource.one}`}
          </Button>
          <Button variant="default" icon={<IconTablePlus />} onClick={() => open({ kind: 'import' })}>
            {`Add many ${resource.many}`}
          </Button>
        </div>
      )}
      <ExampleCommand />
    </Message>
  )
}

/** Unless the focus is elsewhere than where the removed rows have left it. */
function focusLast(items: Item[]): void {
  const last = items.at(-1)
  const { activeElement, body } = document
  if (last && (activeElement === body || activeElement === titleOfPage())) rowOf(last.id)?.focus()
}

/** Cuts off a long search, which would fill the page. */
function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text
}

/** Such as `No large toy has this in its name. Enter a number to search by id.` The title has the whole text. */
function notFound(resource: Resource, { filter, search = '' }: View, shown: string): string {
  const names = meaningsOf(resource, search, filter).flatMap(Object.keys)
  // No text of the title can contain some texts, for example a link's with a control character.
  const fields = resource.fields.filter(({ name }) =>
    names.length > 0 ? names.includes(name) : name === resource.title,
  )
  const labels = (isText: boolean) =>
    fields.filter(({ kind }) => (kind === 'text') === isText).map(({ label }) => label.toLowerCase())
  const [texts, others] = [labels(true), labels(false)]
  const words = shown.split(/\s+/)
  const searched = words.length > 1 ? listOf(words.map((word) => `“${word}”`)) : 'this'
  const missing = joined(', and none has ', [
    texts.length > 0 && `${searched} in its ${listOfAny(texts)}`,
    others.length > 0 && `this ${listOfAny(others)}`,
  ])
  const isNumber = ({ name, kind, isSearched }: Field) =>
    kind === 'id' || (isSearched && kind !== 'text' && !(name in filter))
  const numbers = others.length > 0 ? [] : resource.fields.filter(isNumber).map(({ label }) => label.toLowerCase())
  return joined(' ', [
    `No ${nounOf(resource, filter).one} has ${missing}.`,
    numbers.length > 0 && `Enter a number to search by ${listOfAny(numbers)}.`,
  ])
}
