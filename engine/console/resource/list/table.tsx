import './table.css'
import { useCallback, useMemo, useState } from 'react'
import { focusedRow, keepFocus } from '../../components/focus.ts'
import { hint } from '../../components/hint.ts'
import { arrowKeys } from '../../components/keyboard.ts'
import { loadLater } from '../../components/load-later.tsx'
import { valueAttributes } from '../../components/value.tsx'
import { type Item, isSearchable } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { useList, useResource } from '../page-context.ts'
import { listTitleOf } from '../queries.ts'
import { Row } from './row.tsx'

const ChoiceMenu = loadLater(async () => (await import('./choice-menu.tsx')).ChoiceMenu)

interface ResourceTableProps {
  /** Items to mark for a moment. */
  changes: Pick<ReadonlySet<bigint>, 'has'>
}

/** Items as rows. The columns are the fields of the resource. */
export function ResourceTable({ changes }: ResourceTableProps) {
  const { resource } = useResource()
  const { view, list, states, selection, menu, openMenu } = useList()
  const { canEdit } = useAccess()
  // Those of the former page stay while another one is loaded.
  const items = list.rows?.length ? list.rows : undefined
  const [lastFocused, setLastFocused] = useState<bigint>()
  const tabStop = items?.find(({ id }) => id === lastFocused) ?? items?.[0]
  const hasLongIds = items?.some(({ id }) => id >= 1e8)
  const columns = useMemo(() => resource.fields.filter(({ isDetail }) => !isDetail), [resource])
  const saving = new Set(states.filter(({ status }) => status === 'pending').map(({ edit: { seen } }) => seen.id))
  const closeMenu = useCallback(() => openMenu(undefined), [openMenu])
  const inMenu = menu && items?.find(({ id }) => id === menu.id)
  return (
    <>
      <table
        ref={keepFocus}
        className="item-table"
        aria-label={listTitleOf(resource, view.filter)}
        aria-busy={!list.items}
        // Those of the former page stay below the message that says why this one is not loaded.
        inert={!list.items && list.failureReason !== null}
        data-long-ids={hasLongIds || undefined}
        {...arrowKeys}
      >
        <colgroup>
          <col data-kind="select" />
          {columns.map((field) => (
            <col key={field.name} {...valueAttributes(field)} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <SelectAll items={items ?? []} />
            {columns.map(({ name, label, kind }) =>
              kind === 'id' ? (
                <IdHeader key={name} label={label} />
              ) : (
                <th key={name} scope="col">
                  {label}
                </th>
              ),
            )}
          </tr>
        </thead>
        {/* The Tab key stops in one row: the arrow keys move between them (roving tabindex, ARIA Authoring Practices Guide). */}
        <tbody onFocus={() => setLastFocused(focusedRow(items)?.id)}>
          {items
            ? items.map((item) => (
                <Row
                  key={String(item.id)}
                  item={item}
                  columns={columns}
                  isChanged={changes.has(item.id)}
                  isSelected={selection.has(item.id)}
                  isSaving={saving.has(item.id)}
                  hasLeft={list.hasLeft(item)}
                  isShown={item.id === view.item && !view.isAdding}
                  isTabStop={item === tabStop}
                  found={list.data?.found}
                  onSelect={selection.toggle}
                  onOpenMenu={canEdit ? openMenu : undefined}
                />
              ))
            : // Rows of the same height as those of items, so that the layout does not shift.
              Array.from({ length: view.size }, (_, row) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all the same.
                <tr key={row}>
                  <td data-kind="select" />
                  {columns.map((field) => (
                    <td
                      key={field.name}
                      {...valueAttributes(field)}
                      data-title={field.name === resource.title || undefined}
                    >
                      <div className="skeleton item-skeleton" />
                    </td>
                  ))}
                </tr>
              ))}
        </tbody>
      </table>
      {menu && inMenu && <ChoiceMenu key={String(menu.id)} of={inMenu} field={menu.field} onClose={closeMenu} />}
    </>
  )
}

/** Changes the order. */
function IdHeader({ label }: { label: string }) {
  const { resource, turnTo } = useResource()
  const { view } = useList()
  const isNewest = view.order === 'newest'
  if (!isSearchable(resource)) return <th scope="col">{label}</th>
  return (
    <th scope="col" aria-sort={isNewest ? 'descending' : 'ascending'}>
      <button
        type="button"
        className="order"
        {...hint(isNewest ? 'Newest first' : 'Oldest first')}
        onClick={() => turnTo({ order: isNewest ? undefined : 'newest' })}
      >
        {label}
        <span aria-hidden>{isNewest ? ' ↓' : ' ↑'}</span>
      </button>
    </th>
  )
}

/** Selects all items of the page. */
function SelectAll({ items }: { items: Item[] }) {
  const label = `Select all ${useResource().resource.many} of this page`
  const { selection } = useList()
  const count = items.filter(({ id }) => selection.has(id)).length
  const isAll = count > 0 && count === items.length
  return (
    <td data-kind="select">
      <label data-text={label}>
        <input
          type="checkbox"
          aria-label={label}
          checked={isAll}
          ref={(box) => {
            if (box) box.indeterminate = count > 0 && !isAll
          }}
          onChange={() => selection.setAll(!isAll)}
        />
      </label>
    </td>
  )
}
