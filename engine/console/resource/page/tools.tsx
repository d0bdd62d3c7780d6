import './tools.css'
import { type FormEvent, type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react'
import { navigateBelowDialogs } from '../../browser-history.ts'
import { Button, CloseButton, IconButton } from '../../components/buttons.tsx'
import { focusPanel, rowOf } from '../../components/focus.ts'
import { hint } from '../../components/hint.ts'
import { IconDots, IconDownload, IconHistory, IconPlus, IconSearch, IconTablePlus } from '../../components/icons.tsx'
import { keyName, keysOf, useShortcuts } from '../../components/keyboard.ts'
import { loadLater } from '../../components/load-later.tsx'
import { TextField } from '../../form/text-field.tsx'
import { capitalized, listOfAny } from '../../formats.ts'
import { problemOf } from '../../problem.ts'
import { isSearchable } from '../../resource.ts'
import { useAccess } from '../access.ts'
import { useList, useResource } from '../page-context.ts'
import { partOf } from '../queries.ts'
import { idIn } from '../search.ts'
import { firstPage, show } from '../view.ts'

const ReadOnly = loadLater(async () => (await import('./read-only.tsx')).ReadOnly)

const menuId = 'tools-menu'

/** Finds an item, exports the items and adds some. */
export function Tools() {
  const { resource, open } = useResource()
  const { view } = useList()
  const { isReadOnly, hasHistory } = useAccess()
  return (
    <div className="tools">
      <Search />
      <IconButton className="more" label="More" popoverTarget={menuId}>
        <IconDots />
      </IconButton>
      {/* A menu only where the style sheet hides it until it is open. */}
      <div id={menuId} className="tools-menu" popover="auto">
        {!isReadOnly && hasHistory && (
          <Tool
            label="Changes"
            icon={<IconHistory />}
            isShown={view.changes !== undefined}
            onClick={() => open({ kind: 'changes' })}
          />
        )}
        <Tool label="Export" icon={<IconDownload />} onClick={() => open({ kind: 'export' })} />
        {!isReadOnly && <Tool label="Add many" icon={<IconTablePlus />} onClick={() => open({ kind: 'import' })} />}
      </div>
      {isReadOnly ? (
        <ReadOnly />
      ) : (
        <Button icon={<IconPlus />} {...hint(`Add ${resource.one}`, 'add')} onClick={() => open({ kind: 'add' })}>
          {`Add ${resource.one}`}
        </Button>
      )}
    </div>
  )
}

interface ToolProps {
  label: string
  icon: ReactNode
  /** Whether what it opens is on the page. */
  isShown?: boolean
  onClick: () => void
}

/** A button that shows its label in the menu, or if the window is wide. */
function Tool({ label, icon, isShown, onClick }: ToolProps) {
  function act() {
    document.getElementById(menuId)?.hidePopover()
    onClick()
  }
  return (
    <Button
      variant="gray"
      className="tool"
      icon={icon}
      aria-label={label}
      aria-current={isShown || undefined}
      {...hint(label)}
      onClick={act}
    >
      {label}
    </Button>
  )
}

/** Milliseconds without a key until the list shows what was typed. */
const pause = 200

/** Opens an item by its id. If the API searches the resource, the list also shows what matches the text. */
function Search() {
  const { resource, open, turnTo } = useResource()
  const { view, list, item, selection } = useList()
  const isSearched = isSearchable(resource)
  /** What the list does not show yet. */
  const [typed, setTyped] = useState<string>()
  const [isInvalid, setIsInvalid] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  /** Whether the Enter key was pressed before the list showed what was typed. */
  const [isAwaited, setIsAwaited] = useState(false)
  /** The id that was opened last, and its text. */
  const entered = useRef<{ id: bigint; text: string }>(undefined)
  const text = typed ?? view.search ?? ''
  const [searchKey] = keysOf('search')
  useShortcuts({
    search() {
      field.current?.focus()
      field.current?.select()
    },
    // The key closes the panel and clears the selection first.
    ...(view.search !== undefined &&
      view.item === undefined &&
      !view.isAdding &&
      !view.changes &&
      selection.count === 0 && { close: () => search('') }),
  })

  function change(next: string) {
    setIsInvalid(false)
    setIsAwaited(false)
    setTyped(next)
  }

  function search(next: string) {
    setTyped(undefined)
    const wanted = next.trim() === '' ? '' : next
    if (wanted === (view.search ?? '')) return
    // Going back from a search leads to the list before it, and not to each of its letters.
    const replace = wanted !== '' && view.search !== undefined
    turnTo({ search: wanted || undefined }, { replace })
  }

  const searchTyped = useEffectEvent(() => search(text))
  useEffect(() => {
    if (!isSearched || typed === undefined) return
    const timer = setTimeout(searchTyped, pause)
    return () => clearTimeout(timer)
  }, [isSearched, typed])

  function submit(event: FormEvent) {
    event.preventDefault()
    const id = idIn(text)
    if (id !== undefined && !isKnownToMiss(id)) return openId(id)
    if (!isSearched) {
      setIsInvalid(true)
      return field.current?.select()
    }
    if (typed !== undefined) search(typed)
    setIsAwaited(true)
  }

  const isFound = isAwaited && typed === undefined && (list.items?.length || !list.isSearching) && list.items
  useEffect(() => {
    if (!isFound) return
    setIsAwaited(false)
    const [first] = isFound
    if (document.activeElement !== field.current) return
    if (first) rowOf(first.id)?.focus()
    else document.querySelector<HTMLElement>('.offer')?.focus()
  }, [isFound])

  /** Whether the list shows everything that the text finds, without this item. */
  function isKnownToMiss(id: bigint): boolean {
    const isWhole =
      typed === undefined &&
      !list.isSearching &&
      view.search !== undefined &&
      view.cursor === 0n &&
      partOf(resource, view.filter) === undefined
    return isWhole && list.items?.every((each) => each.id !== id) === true
  }

  function openId(id: bigint) {
    setTyped(undefined)
    if (isSearched) entered.current = { id, text }
    open({ kind: 'item', id }, view.search === undefined ? undefined : { ...firstPage, search: undefined })
    // A panel that was open before keeps its place. One that opens now takes the focus itself.
    focusPanel()
  }

  // Digits may also be something else than an id.
  const isMissing = item.failureReason !== null && problemOf(item.failureReason).kind === 'missing'
  useEffect(() => {
    if (!isMissing || view.item === undefined || view.item !== entered.current?.id) return
    const found = { ...view, ...firstPage, search: entered.current.text, item: undefined, isOverList: false }
    entered.current = undefined
    navigateBelowDialogs(() => show(resource, found, { replace: true }))
  }, [isMissing, resource, view])

  function focusFirst() {
    const [first] = list.items ?? []
    if (first) rowOf(first.id)?.focus()
  }

  function handleKey(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && text !== '') search('')
    else if (event.key === 'ArrowDown') focusFirst()
    else return
    event.preventDefault()
  }

  const searched = resource.fields
    .filter(({ kind, isSearched: is }) => kind === 'id' || is)
    .map(({ label }) => label.toLowerCase())
  return (
    <search>
      <form className="search" data-wide={isSearched || undefined} noValidate onSubmit={submit}>
        <TextField
          ref={field}
          aria-label={isSearched ? `Search ${resource.many}` : 'Go to id'}
          placeholder={isSearched ? capitalized(listOfAny(searched)) : 'Go to id'}
          inputMode={isSearched ? 'search' : 'numeric'}
          enterKeyHint={isSearched ? 'search' : 'go'}
          autoComplete="off"
          spellCheck={false}
          maxLength={255}
          dir="auto"
          error={isInvalid && 'Enter 1 to 19 digits.'}
          start={isSearched && <IconSearch />}
          end={
            text === '' ? (
              searchKey && (
                <kbd aria-hidden translate="no">
                  {keyName(searchKey)}
                </kbd>
              )
            ) : (
              <CloseButton
                label="Clear the search"
                size="xs"
                onClick={() => {
                  search('')
                  field.current?.focus()
                }}
              />
            )
          }
          value={text}
          onChange={(event) => change(event.currentTarget.value)}
          onKeyDown={handleKey}
        />
      </form>
    </search>
  )
}
