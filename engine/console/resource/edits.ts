import { MutationObserver, type MutationState, type QueryClient, useMutationState } from '@tanstack/react-query'
import type { Batch, ServiceClient } from '#client'
import { isTransient, problemOf, retryDelayAfter } from '../problem.ts'
import { type Edit, type Field, type Item, isSame, type Resource, type Values } from '../resource.ts'
import { editDrafts } from './drafts.ts'
import { actionOf, editKeyOf } from './edit-key.ts'
import { type Counts, countsWith } from './queries.ts'

/** An edit, and what became of it. One that failed and is pending is tried again. */
export interface EditState
  extends Pick<MutationState<unknown, Error>, 'status' | 'submittedAt' | 'failureReason' | 'failureCount'> {
  edit: Edit
}

/** How often an edit is sent that the service fails to save. While the service is away, there is no limit. */
const attempts = 5

/** Milliseconds for which the page offers to undo an edit. A removal is sent after them. */
export const undoTime = 8_000

/** Milliseconds within which a second click or Enter belongs to the first one. */
export const doubleTime = 500

/** @param undoes the action that it undoes: see `editKeyOf` */
export function editOf(seen: Item, set?: Values, place?: string, undoes?: string): Edit {
  return { seen, set, place, idempotencyKey: editKeyOf(seen.id, undoes) }
}

/** The edit that restores the former values. */
export function reverseOf({ seen, set = {}, place, idempotencyKey }: Edit): Edit {
  const former = Object.keys(set).map((name) => [name, seen[name]])
  const { action } = actionOf(idempotencyKey)
  return { ...editOf({ ...seen, ...set }, Object.fromEntries(former), place, action), undoes: idempotencyKey }
}

/** Whether an item has the values of an edit. The id of one that is added again is not known before the response. */
export function isResultOf({ entered }: Resource, { seen, set, isAddition }: Edit, item: Item): boolean {
  if (isAddition) return entered.every(({ name }) => isSame(seen[name], item[name]))
  return seen.id === item.id && set !== undefined && Object.keys(set).every((name) => isSame(set[name], item[name]))
}

/** The fields that an edit expects as the user saw them: the edited ones, or all for a removal. */
export function expectedBy({ entered }: Resource, { set }: Edit): readonly Field[] {
  return entered.filter(({ name }) => !set || name in set)
}

/** The input of `update`, or of `remove`. */
export function inputOf(resource: Resource, edit: Edit): Values {
  const { seen, set } = edit
  const fields = expectedBy(resource, edit)
  // An optional field without a value is null.
  const allOf = (values: Values) => Object.fromEntries(fields.map(({ name }) => [name, values[name] ?? null]))
  return { [`${resource.one}Id`]: seen.id, ...(set && allOf(set)), expected: allOf(seen) }
}

/** Sends an edit. Removing an item that somebody else has removed is a success. */
export async function send(
  resource: Resource,
  client: ServiceClient,
  edit: Edit,
  batch?: Batch,
): Promise<Item | undefined> {
  const { update, remove } = resource.procedures(client)
  const options = { context: { idempotencyKey: edit.idempotencyKey, ...(batch && { batch }) } }
  if (edit.set) return update?.mutate(inputOf(resource, edit), options)
  try {
    await remove?.mutate(inputOf(resource, edit), options)
  } catch (error) {
    if (problemOf(error).kind !== 'missing') throw error
  }
  return undefined
}

/** The removals that wait until the time to undo them is over, or until the user leaves the page, by their idempotency keys. */
const waiting = new Map<string, PromiseWithResolvers<void> & { timer?: ReturnType<typeof setTimeout> }>()

/** Whether a removal is not sent yet. */
export function isWaiting({ idempotencyKey }: Edit): boolean {
  return waiting.has(idempotencyKey)
}

/** Lets a removal wait while the pointer or the focus is in its notice, and then for the time to undo it. */
export function hold({ idempotencyKey }: Edit, isHeld: boolean): void {
  const removal = waiting.get(idempotencyKey)
  if (!removal) return
  clearTimeout(removal.timer)
  if (!isHeld) removal.timer = setTimeout(removal.resolve, undoTime)
}

/** The idempotency keys of the edits that are not sent any more. */
const stopped = new Set<string>()

class Stopped extends Error {}

/** Sends the removals that wait when the user leaves the page. */
export function sendRemovalsOnLeave(): void {
  addEventListener('pagehide', () => {
    for (const removal of waiting.values()) removal.resolve()
  })
}

/**
 * Saves edits until the service has responded, each with one idempotency key: also while the service is away, after a reload
 * of the page, and with the next API key if this one is rejected. The edits of an item are sent one after the other.
 */
export function editsOf(resource: Resource, client: ServiceClient, queryClient: QueryClient) {
  const { many } = resource
  const cache = queryClient.getMutationCache()
  const keyOf = ({ idempotencyKey }: Edit) => [many, 'edit', idempotencyKey]

  function save(edit: Edit, isResumed = false): void {
    editDrafts.set(edit.idempotencyKey, { many, edit })
    const { idempotencyKey } = edit
    // Now, not when it is sent: the page offers to undo it at once.
    if (!edit.set && !isResumed) waiting.set(idempotencyKey, Promise.withResolvers())
    const observer = new MutationObserver<Item | undefined, Error, Edit>(queryClient, {
      mutationKey: keyOf(edit),
      scope: { id: `${many}:${edit.seen.id}` },
      gcTime: Number.POSITIVE_INFINITY,
      retry(failures, error) {
        const problem = problemOf(error)
        return isTransient(problem) && !(problem.isFault && failures >= attempts - 1)
      },
      retryDelay: (failures, error) => retryDelayAfter(failures, problemOf(error)),
      async mutationFn() {
        const removal = waiting.get(idempotencyKey)
        if (removal) {
          hold(edit, false)
          await removal.promise.finally(() => waiting.delete(idempotencyKey))
        }
        if (stopped.has(idempotencyKey)) throw new Stopped()
        return send(resource, client, edit)
      },
      async onSuccess(item) {
        // What is being loaded may have the former values.
        await queryClient.cancelQueries({ queryKey: [many] })
        // What was removed is hidden until the list is loaded again: without it, a page would look like the last one.
        if (item) {
          queryClient.setQueriesData<{ items: Item[] }>({ queryKey: [many, 'list'] }, (page) => {
            const items = page?.items.map((each) => (each.id === item.id ? item : each))
            return items && { ...page, items }
          })
          queryClient.setQueryData([many, 'item', item.id], item)
        }
        queryClient.setQueryData<Counts>([many, 'counts'], (counts) => counts && countsWith(resource, counts, [edit]))
      },
      onSettled(_item, error) {
        if (error && problemOf(error).kind === 'refused') return
        // `discard` has deleted its draft, unless the next session sends it.
        if (!(error instanceof Stopped)) editDrafts.delete(idempotencyKey)
        stopped.delete(idempotencyKey)
        void queryClient.invalidateQueries({ queryKey: [many] })
      },
    })
    // The state of the mutation has the error.
    observer.mutate(edit).catch(() => {})
  }

  const mutationOf = (edit: Edit) => cache.find({ mutationKey: keyOf(edit) })

  /** Forgets an edit that has ended. */
  function forget(edit: Edit): void {
    const mutation = mutationOf(edit)
    if (mutation && mutation.state.status !== 'pending') cache.remove(mutation)
  }

  /** Does not send an edit any more. What a request that is under way still does shows in the list. */
  function discard(edit: Edit): void {
    const { idempotencyKey } = edit
    editDrafts.delete(idempotencyKey)
    stopped.add(idempotencyKey)
    waiting.get(idempotencyKey)?.resolve()
    const mutation = mutationOf(edit)
    if (mutation) cache.remove(mutation)
    void queryClient.invalidateQueries({ queryKey: [many] })
  }

  return {
    save,
    forget,
    discard,

    /** Sends an edit again that the service has failed to save. */
    repeat(edit: Edit): void {
      forget(edit)
      save(edit, true)
    },

    undo(edit: Edit): void {
      if (edit.set) save(reverseOf(edit))
      else discard(edit)
      forget(edit)
    },

    /** Sends the edits again that were sent before a reload, or with another API key, and whose outcome is unknown. */
    resume(): void {
      for (const { many: of, edit } of editDrafts.values()) {
        if (of !== many || mutationOf(edit)) continue
        // Otherwise the removal would also wait with the former key, and an undo would stop only that one.
        waiting.get(edit.idempotencyKey)?.reject(new Stopped())
        waiting.delete(edit.idempotencyKey)
        save(edit, true)
      }
    },
  }
}

export type Edits = ReturnType<typeof editsOf>

/** The edits of a resource in this tab, the oldest first. */
export function useEdits({ many }: Resource): EditState[] {
  return useMutationState({
    filters: { mutationKey: [many, 'edit'] },
    select({ state: { variables, status, submittedAt, failureReason, failureCount } }): EditState {
      // Safe: these mutations get an edit.
      return { edit: variables as Edit, status, submittedAt, failureReason, failureCount }
    },
  })
}

/** An item with the values that are being saved. Undefined if it is being removed, or was removed since the list was loaded. */
export function withEdits(item: Item, edits: EditState[]): Item | undefined {
  let edited: Item | undefined = item
  for (const { edit, status } of edits) {
    if (edit.seen.id !== item.id || (status !== 'pending' && (edit.set || status !== 'success'))) continue
    edited = edit.set && edited && { ...edited, ...edit.set }
  }
  return edited
}
