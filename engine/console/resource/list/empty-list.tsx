import './empty-list.css'
import { useEffect, useRef } from 'react'
import { Button } from '../../components/buttons.tsx'
import { keepFocus, rowOf, titleOfPage } from '../../components/focus.ts'
import { IconPlus, IconSearch, IconTablePlus } from '../../components/icons.tsx'
import { loadLater } from '../../components/load-later.tsx'
import { Message } from '../../components/message.tsx'
import type { Edit, Item, Resource } from '../../resource.ts'
import { emptyTextsOf } from '../../texts/empty.ts'
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
  const { resource, icon, open, turnTo, ...page } = useResource()
  const { view, turns } = useList()
  const { isReadOnly } = useAccess()
  const texts = emptyTextsOf(resource)
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
      <Message ref={keepFocus} icon={icon} title={texts.pastEnd} text={texts.pastEndText}>
        <Button variant="default" onClick={() => turnTo({})}>
          {texts.toFirst}
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
        title={texts.emptyPart(nounOf(resource, view.filter), search)}
        text={search && notFound(resource, view, search)}
      >
        <div className="message-actions">
          {search && <Offers />}
          {part && search && (
            <Button variant="default" onClick={() => turnTo({ filter: {} })}>
              {texts.searchAll}
            </Button>
          )}
          <Button variant="default" onClick={() => turnTo(everything)}>
            {texts.showAll}
          </Button>
        </div>
      </Message>
    )
  }
  return (
    <Message ref={keepFocus} icon={icon} title={texts.empty} text={texts.emptyText}>
      {!isReadOnly && (
        <div className="message-actions">
          <Button icon={<IconPlus />} onClick={() => open({ kind: 'add' })}>
            {page.texts.add.title}
          </Button>
          <Button variant="default" icon={<IconTablePlus />} onClick={() => open({ kind: 'import' })}>
            {texts.addMany}
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

/** Such as `No large toy has “mo” in its name.` */
function notFound(resource: Resource, { filter, search = '' }: View, shown: string): string {
  const names = meaningsOf(resource, search, filter).flatMap(Object.keys)
  // No text of the title can contain some texts, for example a link's with a control character.
  const fields = resource.fields.filter(({ name }) =>
    names.length > 0 ? names.includes(name) : name === resource.title,
  )
  const labels = (isText: boolean) =>
    fields.filter(({ kind }) => (kind === 'text') === isText).map(({ label }) => label.toLowerCase())
  return emptyTextsOf(resource).notFound(nounOf(resource, filter), labels(true), labels(false), shown)
}
