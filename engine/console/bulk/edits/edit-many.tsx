import type { Batch } from '#client'
import { textOf } from '#service/fields'
import './bulk.css'
import { useWindowEvent } from '@mantine/hooks'
import { useQueryClient } from '@tanstack/react-query'
import { type MouseEvent, useEffect, useEffectEvent, useReducer, useRef, useState } from 'react'
import { useClient } from '../client.ts'
import { Button } from '../components/buttons.tsx'
import { Sheet } from '../components/sheet.tsx'
import { Notice } from '../form/notice.tsx'
import { type Problem, problemOf } from '../problem.ts'
import { wasNeverRead } from '../requests/log.ts'
import type { Done } from '../resource/edit-notice.tsx'
import { doubleTime, editOf, reverseOf, send } from '../resource/edits.ts'
import { addedAgain, additionOf, useRemoval } from '../resource/item/history.ts'
import { neighborOf } from '../resource/list/use-shown-list.ts'
import type { EditManyDialog } from '../resource/navigation.ts'
import { useList, useResource } from '../resource/page-context.ts'
import { invalidate } from '../resource/queries.ts'
import { type Edit, type Item, valuesOf } from '../resource.ts'
import { editTextsOf } from '../texts/edits.ts'
import { shownText } from '../texts/formats.ts'
import { messages } from '../texts/messages.ts'
import { sendInBatches } from './batches.ts'
import { Progress, useJob } from './use-job.tsx'

interface EditManyProps extends EditManyDialog {
  onClose: () => void
  /** Called with the edits that are saved. */
  onDone: (result: Omit<Done, 'at'>) => void
}

/** The most names that a question shows. */
const maxNames = 5

/** Asks whether many items are changed, and does that. Continuing after a stop sends what has no result yet. */
export function EditMany({ edits, same, onRemoved, onClose, onDone, ...options }: EditManyProps) {
  const { isUndo = false, startsAtOnce = false, unchanged } = options
  const { resource, queries, open } = useResource()
  const { many: texts, edit: editTexts, changes: changesTexts, item: itemTexts } = editTextsOf(resource)
  const { list, selection, view } = useList()
  const client = useClient()
  const queryClient = useQueryClient()
  /** What became of the edits: a problem, or undefined for a success. */
  const [outcomes] = useState(() => new Map<Edit, Problem | undefined>())
  /** The edits that the service may have read. */
  const [sent] = useState(() => new Set<Edit>())
  /** The items that had been added before, and the new ones. */
  const [additions] = useState(() => ({ existed: new Set<Edit>(), items: [] as Item[] }))
  const [, update] = useReducer((updates: number) => updates + 1, 0)
  const left = edits.filter((edit) => !outcomes.has(edit))
  const unconfirmed = left.filter((edit) => sent.has(edit))
  const failed = edits.filter((edit) => outcomes.get(edit))
  const conflicts = failed.filter((edit) => outcomes.get(edit)?.kind === 'conflict')
  const done = edits.filter((edit) => outcomes.has(edit) && !outcomes.get(edit))

  const [first] = edits
  const { set, isAddition = false } = first ?? {}
  const field = resource.fields.find(({ name }) => set && name in set)
  const { label = '' } = field ?? {}
  const shown = (field && shownText(field, set?.[field.name])) || changesTexts.empty
  const value = field?.choices ? shown.toLowerCase() : shown
  const isRemoval = !set && !isAddition
  const question = set
    ? texts.title(label, value)
    : isAddition
      ? texts.addTitle(edits.length)
      : texts.removeTitle(edits.length)

  async function sendOne(edit: Edit, batch: Batch): Promise<void> {
    const { repeats } = edit
    const isFirst = !sent.has(edit)
    sent.add(edit)
    try {
      if (repeats) await send(resource, client, repeats, batch)
      if (isAddition) await addAgain(edit, batch, isFirst)
      else await send(resource, client, edit, batch)
    } catch (error) {
      if (isFirst && wasNeverRead(edit.idempotencyKey)) sent.delete(edit)
      throw error
    }
    outcomes.set(edit, undefined)
  }
  async function addAgain(edit: Edit, batch: Batch, isFirst: boolean): Promise<void> {
    const { seen, idempotencyKey } = edit
    // The response to a repetition may be that to the first attempt, which was lost.
    const onResponse = ({ headers }: Response) => {
      if (isFirst && headers.has('idempotency-replayed')) additions.existed.add(edit)
    }
    const item = valuesOf(resource, ({ name }) => seen[name])
    const options = { context: { idempotencyKey, batch, onResponse } }
    additions.items.push(await resource.procedures(client).create.mutate(item, options))
    addedAgain.add(idempotencyKey)
  }

  const { start, stop, status, pause, error } = useJob(async (options) => {
    try {
      await sendInBatches(left, {
        ...options,
        isOrdered: isAddition,
        send: sendOne,
        onFailure: (edit, problem) => outcomes.set(edit, problem),
        valuesOf: ({ seen, set = {} }) => [...Object.values(seen), ...Object.values(set)],
      })
    } finally {
      // A row that an earlier edit keeps in its place has the values of that edit.
      list.release()
      invalidate(queryClient, resource)
    }
  })
  const isRunning = status === 'pending'
  const hasStarted = status !== 'idle'
  // Responses also come after a stop.
  useEffect(() => {
    if (!hasStarted) return
    const timer = setInterval(update, 200)
    return () => clearInterval(timer)
  }, [hasStarted])
  const [only] = additions.items.length === 1 ? additions.items : []
  function doneText(): string {
    if (isUndo && set) return texts.undone(done.length)
    if (isAddition && only) return texts.itemAddedAgain(nameOf({ seen: only }), additions.existed.size > 0)
    if (isAddition) return texts.addedAgain(done.length, additions.existed.size)
    if (!set) return texts.removed(done.length)
    return field?.choices ? texts.done(done.length, value, same) : texts.doneOf(label, done.length, value, same)
  }
  /** Only the items that were not changed stay selected. The changes of the others can be undone. */
  function close() {
    if (edits.length === 0) return onDone({ text: unchanged ?? texts.unchanged(same), edits })
    // An item that is gone cannot be changed later either.
    const gone = failed.filter((edit) => outcomes.get(edit)?.kind === 'missing')
    selection.remove(gone.map(({ seen }) => seen))
    if (done.length + unconfirmed.length === 0) return onClose()
    if (isRemoval) onRemoved?.(done)
    if (!isAddition) selection.clear()
    const others = [...left, ...failed].filter((edit) => !gone.includes(edit))
    if (!isUndo && !isAddition) selection.add(others.map(({ seen }) => seen))
    onDone({
      text: unconfirmed.length > 0 ? `${results}.` : doneText(),
      edits: [...done, ...unconfirmed],
      focus: itemAfter,
      ...(only && { link: { id: only.id, name: nameOf({ seen: only }) } }),
      firstId: only ? undefined : additions.items[0]?.id,
      ...(!isUndo && set && { onUndo: undo }),
      ...(!isUndo && isRemoval && done.length > 0 && { onUndo: openAddition, undoLabel: texts.addAgain(done.length) }),
    })
  }
  /** The first item that was changed or added, or the one after those that were removed. */
  function itemAfter(items: Item[]): bigint | undefined {
    if (isAddition) return items.find(({ id }) => additions.items.some((item) => item.id === id))?.id
    if (set) return done[0]?.seen.id
    const removed = new Set(done.map(({ seen }) => seen.id))
    const left = items.filter(({ id }) => !removed.has(id))
    return neighborOf(left, { ...view, search: undefined }, done[0]?.seen.id, 1) ?? left.at(-1)?.id
  }
  function undo() {
    const repeated = unconfirmed.map((edit) => ({ ...reverseOf(edit), repeats: edit }))
    const reversed = [...done.map(reverseOf), ...repeated]
    open({ kind: 'editMany', edits: reversed, same: 0, isUndo: true, startsAtOnce: true })
  }
  function openAddition() {
    const removed = done.map(({ seen }) => seen)
    open(additionOf(resource, removed))
  }
  function addDoneAgain() {
    close()
    openAddition()
  }
  /** Asks again, for the items that somebody else has changed, as they are now. */
  async function insist() {
    const load = ({ seen, set, place }: Edit) =>
      queryClient.fetchQuery({ ...queries.item(seen.id, queryClient), staleTime: 0 }).then(
        (item) => [editOf(item, set, place)],
        // It was removed meanwhile.
        () => [],
      )
    const loaded = (await Promise.all(conflicts.map(load))).flat()
    close()
    if (loaded.length > 0) open({ kind: 'editMany', edits: loaded, same: 0 })
  }
  const wasStarted = useRef(false)
  useEffect(() => {
    if (startsAtOnce && !wasStarted.current) start()
    wasStarted.current = true
  }, [startsAtOnce, start])

  const finish = useEffectEvent(close)
  const hasEnded = status === 'success' || status === 'error'
  const isAllDone = done.length === edits.length
  const closeButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (hasEnded && isAllDone) finish()
    else if (hasEnded) closeButton.current?.focus()
  }, [hasEnded, isAllDone])

  useWindowEvent('beforeunload', (event) => {
    if (isRunning) event.preventDefault()
  })

  // Names need not be unique.
  const nameOf = ({ seen }: Pick<Edit, 'seen'>) =>
    seen[resource.title] === undefined ? itemTexts.heading(seen.id) : `${textOf(seen[resource.title])} #${seen.id}`
  const others = edits.length - maxNames
  const results = texts.results(done.length, failed.length, unconfirmed.length, left.length - unconfirmed.length)
  const plan = set ? texts.plan(edits.length, same, value) : texts.removal(edits.length)
  return (
    <Sheet
      // Without the question mark: the user has decided.
      title={isUndo ? editTexts.undo : hasStarted ? question.slice(0, -1) : question}
      onClose={isRunning ? stop : close}
      size="sm"
      isModal
      isLate={startsAtOnce && !hasEnded}
      holdsEntries={hasStarted}
    >
      <div className="export">
        {error && (
          <Notice title={texts.notDone} problem={problemOf(error)}>
            {problemOf(error).message}
          </Notice>
        )}
        {hasStarted ? (
          <Progress label={texts.progress} done={edits.length - left.length} total={edits.length} pause={pause} />
        ) : (
          <>
            {!set && (
              <ul className="bulk-names">
                {edits.slice(0, maxNames).map((edit) => (
                  <li key={edit.idempotencyKey}>
                    <bdi>{nameOf(edit)}</bdi>
                  </li>
                ))}
                {others > 0 && <li>{texts.others(others)}</li>}
              </ul>
            )}
            <p>{plan}.</p>
          </>
        )}
        <p role="status">{hasStarted && !isRunning && results}</p>
        {failed.length > 0 && (
          <ul className="bulk-names">
            {failed.map((edit) => (
              <li key={edit.idempotencyKey}>
                {outcomes.get(edit)?.kind === 'missing' ? (
                  <Removed id={edit.seen.id} name={nameOf(edit)} />
                ) : (
                  <>
                    <bdi>{nameOf(edit)}</bdi>: {outcomes.get(edit)?.message}
                  </>
                )}
              </li>
            ))}
          </ul>
        )}
        <div className="bulk-choice">
          {isRunning ? (
            <StopButton onStop={stop}>{texts.stop}</StopButton>
          ) : (
            <>
              <Button ref={closeButton} variant="default" data-autofocus={isRemoval || undefined} onClick={close}>
                {hasStarted ? messages.page.close : texts.cancel}
              </Button>
              {hasStarted && set && !isUndo && done.length + unconfirmed.length > 0 && (
                <Button variant="default" onClick={undo}>
                  {editTexts.undo}
                </Button>
              )}
              {hasStarted && isRemoval && done.length > 0 && (
                <Button variant="default" onClick={addDoneAgain}>
                  {texts.addAgain(done.length)}
                </Button>
              )}
              {conflicts.length > 0 && !isUndo && (
                <Button variant={set ? 'default' : 'danger'} onClick={() => void insist()}>
                  {set ? editTexts.useMine : editTexts.removeAnyway}
                </Button>
              )}
              {left.length > 0 && (
                <Button
                  data-autofocus={!isRemoval || undefined}
                  variant={isRemoval ? 'danger' : 'filled'}
                  onClick={() => start()}
                >
                  {hasStarted ? texts.resume(left.length) : set ? texts.change(left.length) : texts.remove(left.length)}
                </Button>
              )}
            </>
          )}
        </div>
      </div>
    </Sheet>
  )
}

/** Says who has removed an item. */
function Removed({ id, name }: { id: bigint; name: string }) {
  const { resource } = useResource()
  const by = useRemoval(id, true).removal?.keyName
  return <bdi>{editTextsOf(resource).edit.removed(name, by)}</bdi>
}

/** Takes the focus of the button that it replaces, but not the second click or Enter of a double one. */
function StopButton({ onStop, children }: { onStop: () => void; children: string }) {
  const [shownAt] = useState(() => performance.now())
  const stop = ({ timeStamp }: MouseEvent) => timeStamp - shownAt > doubleTime && onStop()
  return (
    <Button variant="default" autoFocus data-autofocus onClick={stop}>
      {children}
    </Button>
  )
}
