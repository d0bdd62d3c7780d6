import { textOf } from '#service/fields'
import './item-panel.css'
import { useWindowEvent } from '@mantine/hooks'
import { useRef, useState } from 'react'
import { Button, IconButton } from '../../components/buttons.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { editButtonIdOf, keepFocus, rowOf, topDialog } from '../../components/focus.ts'
import { IconChevronDown } from '../../components/icons.tsx'
import { areCharactersOn, arrowKeys, textFields } from '../../components/keyboard.ts'
import { IconChevronUp, IconPencil, IconTrash } from '../../components/later-icons.tsx'
import { Message } from '../../components/message.tsx'
import { Panel } from '../../components/panel.tsx'
import { Value, valueAttributes } from '../../components/value.tsx'
import { date, joined } from '../../formats.ts'
import { problemOf } from '../../problem.ts'
import { Command } from '../../requests/command.tsx'
import { commandLabel, commandOf, jsonOf } from '../../requests/curl.ts'
import { Failure, useLastFailure } from '../../requests/failure.tsx'
import { procedures } from '../../requests/procedures.ts'
import { type Field, type Item, parseChoice } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { fieldDrafts } from '../drafts.ts'
import { useList, useResource } from '../page-context.ts'
import { itemCallOf } from '../queries.ts'
import type { ShownList } from '../use-shown-list.ts'
import { hrefOf } from '../view.ts'
import { ChangeList } from './change-list.tsx'
import { draftKeyOf, EditField } from './edit-field.tsx'
import { headingOf, removedText, valueText } from './edit-text.tsx'
import { additionOf, isAddedAgain, useRemoval } from './history.ts'
import { isNewClick } from './new-click.ts'
import { Reversal } from './reversal.tsx'
import { useChoose } from './use-choose.ts'

/** One item. */
export function ItemPanel({ id, onClose }: { id: bigint; onClose: () => void }) {
  const { resource } = useResource()
  const { view, item, move, toEdit } = useList()
  return (
    <Panel
      title={item.data ? textOf(item.data[resource.title]) : headingOf(resource, id)}
      translate="no"
      onClose={onClose}
      {...arrowKeys}
      startsWithField={toEdit === id}
      focusAfter={() => (view.changes ? undefined : rowOf(id))}
      actions={
        <>
          <IconButton label={`Previous ${resource.one}`} shortcut="previousItem" onClick={() => move(-1)}>
            <IconChevronUp />
          </IconButton>
          <IconButton label={`Next ${resource.one}`} shortcut="nextItem" onClick={() => move(1)}>
            <IconChevronDown />
          </IconButton>
        </>
      }
    >
      <LoadedItem key={String(id)} id={id} item={item} />
    </Panel>
  )
}

function LoadedItem({ id, item }: { id: bigint; item: ShownList['item'] }) {
  const { resource, icon } = useResource()
  const { states } = useList()
  const { data, failureCount } = item
  const failureReason = useLastFailure(item)
  const isMissing = failureReason !== null && problemOf(failureReason).kind === 'missing'
  const { removal, isLoading } = useRemoval(id, isMissing)
  if (isMissing && !isLoading) {
    const [draft] = resource.entered.flatMap(
      (field) => fieldDrafts.get(draftKeyOf(resource, { id }, field))?.text ?? [],
    )
    // The user may have removed it.
    const known = removal?.before ?? data ?? states.findLast(({ edit: { seen } }) => seen.id === id)?.edit.seen
    const former = textOf(known?.[resource.title]) || headingOf(resource, id)
    const [addition] = known ? additionOf(resource, [{ ...known, id }]).edits : []
    const isKnown = known !== undefined || draft !== undefined
    return (
      <Message
        icon={icon}
        heading="h3"
        role={addition && isAddedAgain(addition) ? undefined : 'alert'}
        title={isKnown ? removedText(former) : `No ${resource.one} has the id ${id}`}
        text={joined(' ', [
          removal !== undefined &&
            `${removal.keyName === undefined ? '' : `By ${removal.keyName}, `}${date(removal.at)}.`,
          draft !== undefined && valueText(draft),
          !isKnown && 'It may never have existed, or it was removed.',
        ])}
      >
        <div className="message-actions">
          {removal && <Reversal changes={[removal]} isMain />}
          {draft !== undefined && <CopyButton withText label="Copy your value" value={draft} />}
        </div>
      </Message>
    )
  }
  if (data) return <Details item={data} />
  if (!failureReason || isMissing)
    return <div className="skeleton item-details-skeleton" role="status" aria-label={`Loading the ${resource.one}`} />
  return <Failure title={`The ${resource.one} could not be loaded`} error={failureReason} failures={failureCount} />
}

function Details({ item }: { item: Item }) {
  const { resource } = useResource()
  const { states, remove, toEdit } = useList()
  const choose = useChoose()
  // After a reload, the user continues with the draft of a field.
  const [edited, setEdited] = useState(
    () =>
      resource.entered.find((field) => fieldDrafts.has(draftKeyOf(resource, item, field)))?.name ??
      (toEdit === item.id ? resource.title : undefined),
  )
  const { isReadOnly, canEdit, canRemove, hasHistory } = useAccess()
  const { id } = item
  const json = jsonOf(item, '  ')
  const ofItem = states.filter(({ edit: { seen }, status }) => status === 'pending' && seen.id === id)
  const saving = ofItem.flatMap(({ edit }) => Object.keys(edit.set ?? {}))
  const isEditableField = ({ presence }: Field) => canEdit && presence !== 'generated'
  // A value that the user cannot set is not shown if there is none.
  const fields = resource.fields.filter((field) => isEditableField(field) || item[field.name] !== undefined)
  return (
    <>
      <dl ref={keepFocus} className="item-details">
        {fields.map((field) => (
          <div key={field.name}>
            <dt>{field.label}</dt>
            <dd
              {...valueAttributes(field)}
              data-saving={saving.includes(field.name) || undefined}
              onDoubleClick={() => isEditableField(field) && !field.choices && setEdited(field.name)}
            >
              {edited === field.name && <EditField item={item} field={field} onClose={() => setEdited(undefined)} />}
              {isEditableField(field) && field.choices ? (
                <Choices field={field} value={item[field.name]} onChoose={(value) => choose(item, field, value)} />
              ) : (
                <>
                  <Value field={field} value={item[field.name]} />
                  {isEditableField(field) && (
                    <IconButton
                      ref={keepFocus}
                      id={editButtonIdOf(field.name)}
                      className="edit-button"
                      size="xs"
                      label={`Edit the ${field.label.toLowerCase()}`}
                      {...(field.name === resource.title && { shortcut: 'edit' as const })}
                      onClick={() => setEdited(field.name)}
                    >
                      <IconPencil />
                    </IconButton>
                  )}
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <div ref={keepFocus} className="item-actions">
        <CopyButton withText label="Copy link" value={new URL(hrefOf(resource, { item: id }), document.baseURI).href} />
        <CopyButton withText label="Copy JSON" value={json} />
        {canRemove && (
          <Button
            className="remove"
            variant="gray"
            size="xs"
            icon={<IconTrash />}
            onClick={(event) => isNewClick(event) && remove(item)}
          >
            {`Remove ${resource.one}`}
          </Button>
        )}
      </div>
      {hasHistory && (
        <section className="item-history" aria-label="History">
          <h3>History</h3>
          {isReadOnly ? (
            <p className="changes-none">Your API key cannot show who changed what.</p>
          ) : (
            <ChangeList id={id} />
          )}
        </section>
      )}
      <details
        className="item-json"
        onToggle={({ currentTarget }) => currentTarget.open && currentTarget.scrollIntoView({ block: 'nearest' })}
      >
        <summary>Request and JSON</summary>
        <Command label={commandLabel()} command={commandOf(procedures, itemCallOf(resource, id))} />
        <pre>{json}</pre>
      </details>
    </>
  )
}

/**
 * The choices side by side. A click or its number saves at once, for the first field also from elsewhere in the panel. Not
 * radio buttons, whose arrow keys would save each one on the way.
 */
function Choices({ field, value, onChoose }: { field: Field; value: unknown; onChoose: (value: unknown) => void }) {
  const group = useRef<HTMLFieldSetElement>(null)
  const choices = Object.entries(field.choices ?? {})
  useWindowEvent('keydown', (event) => {
    const index = Number(event.key) - 1
    const [choice] = (areCharactersOn() && choices[index]) || []
    const focused = document.activeElement?.closest('.choices')
    const region = regionOf(event)
    if (choice === undefined || (focused ?? region?.querySelector('.choices')) !== group.current) return
    onChoose(parseChoice(field, choice))
    // Otherwise Enter would press the former choice.
    if (focused) group.current?.querySelectorAll('button')[index]?.focus()
  })
  return (
    <fieldset ref={group} className="choices" aria-label={field.label} data-choices={field.name}>
      {choices.map(([choice, label], index) => (
        <button
          key={choice}
          type="button"
          aria-pressed={String(value) === choice}
          {...(areCharactersOn() && { 'data-hint': `${label} (${index + 1})`, 'aria-keyshortcuts': `${index + 1}` })}
          onClick={() => onChoose(parseChoice(field, choice))}
        >
          <Value field={field} value={choice} />
        </button>
      ))}
    </fieldset>
  )
}

/** The list or the panel for which a key without a modifier was pressed, unless it is typed into a field. */
function regionOf({ target, ctrlKey, altKey, metaKey, defaultPrevented }: KeyboardEvent): Element | null {
  if (ctrlKey || altKey || metaKey || defaultPrevented) return null
  if (!(target instanceof Element) || target.matches(textFields)) return null
  const dialog = topDialog()
  return dialog ? dialog.querySelector('[data-arrow-keys]') : target.closest('[data-arrow-keys]')
}
