import { number } from '../../formats.ts'
import './selection-bar.css'
import { useClipboard } from '@mantine/hooks'
import { useCallback, useState } from 'react'
import { SetMany } from '../../bulk/edits/set-many.tsx'
import { exportItems, fileOf } from '../../bulk/export-items.ts'
import { useJob } from '../../bulk/use-job.tsx'
import { useClient } from '../../client.ts'
import { Announcement } from '../../components/announcement.tsx'
import { Button, CloseButton } from '../../components/buttons.tsx'
import { choiceIdOf, keepFocus } from '../../components/focus.ts'
import { IconCheck, IconChevronDown, IconCopy } from '../../components/icons.tsx'
import { IconTrash } from '../../components/later-icons.tsx'
import type { Field } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { together } from '../edit-key.ts'
import { editOf } from '../edits.ts'
import { useList, useResource, useTotal } from '../page-context.ts'
import { isIncluded } from '../paged-list.ts'
import { ChoiceMenu, Menu } from './choice-menu.tsx'

/** What can be done with the selected items. It covers the head of the table, so nothing moves when it appears. */
export function SelectionBar({ onClose }: { onClose: () => void }) {
  const { resource, open } = useResource()
  const { view, list, selection, place, removeSelected, menu, openMenu } = useList()
  const { canEdit, canRemove } = useAccess()
  const closeMenu = useCallback(() => openMenu(undefined), [openMenu])
  const title = `${number(selection.count)} selected`
  const elsewhere = selection.count - (list.items?.filter(({ id }) => selection.has(id)).length ?? 0)
  const choices = canEdit ? resource.entered.filter((field) => field.choices) : []
  const isOther = ({ name, choices }: Field) => name !== resource.title && !choices
  const [other, ...more] = canEdit ? resource.entered.filter(isOther) : []
  const [isSetting, setIsSetting] = useState(false)

  function set(field: Field, value: unknown) {
    const items = selection.items()
    const changed = items.filter((item) => item[field.name] !== value)
    // They would stay selected where the user does not see them.
    selection.remove(items.filter((item) => item[field.name] === value && !isIncluded(view.filter, item)))
    const edits = together(changed.map((item) => editOf(item, { [field.name]: value }, place)))
    // What the user sees, and can undo, needs no question.
    const startsAtOnce = elsewhere === 0 || edits.length === 0
    open({ kind: 'editMany', edits, same: items.length - changed.length, startsAtOnce })
  }

  return (
    <section ref={keepFocus} className="selection-bar" aria-label={title}>
      <span className="number">{title}</span>
      {elsewhere > 0 && <span className="number">{`${number(elsewhere)} not on this page`}</span>}
      <SelectAllFound />
      {choices.map((field) => (
        <Button
          key={field.name}
          id={choiceIdOf('selection', field)}
          variant="default"
          size="xs"
          endIcon={<IconChevronDown />}
          aria-haspopup="menu"
          onClick={() => openMenu({ id: 'selection', field })}
          {...setLabel(`Set ${field.label.toLowerCase()}`, field.label)}
        />
      ))}
      {other && (
        <Button
          variant="default"
          size="xs"
          aria-haspopup="dialog"
          onClick={() => setIsSetting(true)}
          {...(more.length > 0
            ? setLabel('Set a value', 'Value')
            : setLabel(`Set ${other.label.toLowerCase()}`, other.label))}
        />
      )}
      {other && isSetting && <SetMany fields={[other, ...more]} onClose={() => setIsSetting(false)} />}
      {canRemove && (
        <Button variant="default" size="xs" icon={<IconTrash />} onClick={removeSelected}>
          Remove
        </Button>
      )}
      {menu?.id === 'selection' && (
        <ChoiceMenu
          field={menu.field}
          of="selection"
          onChoose={(value) => set(menu.field, value)}
          onClose={closeMenu}
        />
      )}
      <CopyMenu />
      <CloseButton label="Clear the selection" size="xs" onClick={onClose} />
    </section>
  )
}

/** What a button sets. A phone has no room for the whole label. */
function setLabel(label: string, short: string) {
  return {
    'aria-label': label,
    children: (
      <>
        <span className="set-long">{label}</span>
        <span className="set-short">{short}</span>
      </>
    ),
  }
}

const copyId = 'copy-selection'

/** Copies the selected items. Browsers allow it only on secure pages, so there is no button on others. */
function CopyMenu() {
  const { resource } = useResource()
  const { selection } = useList()
  const [isOpen, setIsOpen] = useState(false)
  const close = useCallback(() => setIsOpen(false), [])
  const { copied, copy } = useClipboard({ timeout: 2_000 })
  if (!isSecureContext) return null
  const formats: Record<string, () => string> = {
    Ids: () => Array.from(selection.items(), ({ id }) => id).join('\n'),
    JSON: () => fileOf(resource, 'json', selection.items()),
    CSV: () => fileOf(resource, 'csv', selection.items()),
  }
  return (
    <>
      <Button
        id={copyId}
        className="copy"
        variant="default"
        size="xs"
        icon={copied ? <IconCheck /> : <IconCopy />}
        endIcon={<IconChevronDown />}
        labels={['Copy', 'Copied']}
        aria-haspopup="menu"
        onClick={() => setIsOpen(true)}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
      {isOpen && (
        <Menu
          anchorId={copyId}
          label="Copy"
          options={Object.keys(formats).map((format) => [format, <span key={format}>{format}</span>])}
          onChoose={(format) => copy(formats[format]?.())}
          onClose={close}
        />
      )}
      <Announcement text={copied && 'Copied'} />
    </>
  )
}

/** Selects also what the other pages of the list have. */
function SelectAllFound() {
  const { resource } = useResource()
  const { view, list, selection } = useList()
  const procedures = resource.procedures(useClient())
  const [loaded, setLoaded] = useState(0)
  const { filter, search } = view
  const { start, status } = useJob(async (options) => {
    const items = await exportItems(resource, procedures, { ...options, filter, search, onProgress: setLoaded })
    selection.add(items)
  })
  const { items = [], next } = list
  const isWholePage = items.length > 0 && items.every(({ id }) => selection.has(id))
  const total = useTotal()
  const isMore = next !== undefined || view.cursor > 0n
  if (status === 'pending') return <span className="number">{`${number(loaded)} selected…`}</span>
  const areAllSelected = selection.count >= (total?.isExact ? total.count : loaded || Number.POSITIVE_INFINITY)
  if (!isWholePage || !isMore || areAllSelected) return null
  return (
    <Button ref={keepFocus} variant="subtle" size="xs" onClick={() => start()}>
      {`Select all ${total?.isExact ? `${number(total.count)} ` : ''}that match`}
    </Button>
  )
}
