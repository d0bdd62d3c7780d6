import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { createIdempotencyKey } from '#client'
import { useClient, wasNeverRead } from '../../client.ts'
import { isTransient, problemOf, retryDelayAfter } from '../../problem.ts'
import { type Edit, identityOf, type Resource, type Values } from '../../resource.ts'
import { createKeys, formDrafts } from '../drafts.ts'
import { editOf } from '../edits.ts'
import { invalidate } from '../queries.ts'

/**
 * Saves a new item, also while the form is closed. While the outcome of a request is unknown, the same item gets the same
 * idempotency key. So a retry never adds a second item.
 */
export function useNewItem(resource: Resource) {
  const { create } = resource.procedures(useClient())
  const queryClient = useQueryClient()
  const [added, setAdded] = useState<Edit[]>([])
  const [addsAnother, setAddsAnother] = useState(false)
  const [entered, setEntered] = useState<Record<string, string>>(() => formDrafts.get(resource.many) ?? {})
  const textOf = (item: Values) => JSON.stringify(identityOf(resource, item))

  function idempotencyKeyOf(item: Values): string {
    const identity = textOf(item)
    const key = createKeys.get(identity) || createIdempotencyKey()
    createKeys.set(identity, key)
    return key
  }

  /** Whether the last save was the first attempt. */
  const isFirst = useRef(false)
  /** How many of the last saves have failed. */
  const failures = useRef(0)
  const mutationKey = [resource.many, 'create']
  const mutation = useMutation({
    mutationKey,
    // The service validates the item, as it does for every client.
    mutationFn(item: Values) {
      isFirst.current = !createKeys.get(textOf(item))
      return create.mutate(item, { context: { idempotencyKey: idempotencyKeyOf(item) } })
    },
    onSettled(_added, error, item) {
      failures.current = error ? failures.current + 1 : 0
      const problem = error && problemOf(error)
      const identity = textOf(item)
      // After a 401, the outcome of the attempt before is still unknown.
      const isOpen = problem?.kind === 'refused' && !(isFirst.current && wasNeverRead(createKeys.get(identity)))
      if (!problem || !(isTransient(problem) || isOpen)) createKeys.delete(identity)
    },
    onSuccess(item) {
      // Also after the session ended: the item must not be added again with another key.
      formDrafts.delete(resource.many)
      setEntered({})
      invalidate(queryClient, resource)
      setAdded((others) => [editOf(item, {}), ...others])
    },
  })

  /** Also between a click and the next render. */
  const isSaving = () => queryClient.isMutating({ mutationKey }) > 0

  return {
    ...mutation,
    /** Only the values that the user has entered. They are kept while the form is closed. */
    entered,
    enter(values: Record<string, string>) {
      formDrafts.set(resource.many, values)
      setEntered(values)
    },
    /** What the user has added since the last notice about it, the newest first. */
    added,
    forgetAdded: () => setAdded([]),
    /** Whether the form stays open for the next item. */
    addsAnother,
    setAddsAnother,
    /** Whether the item may have been added. The service does not read calls above the rate limit. */
    isUncertain:
      mutation.error !== null &&
      isTransient(problemOf(mutation.error)) &&
      !wasNeverRead(createKeys.get(textOf(mutation.variables))),
    /** Whether a request with another API key may have added an item. */
    mayExist: (item: Values) => createKeys.get(textOf(item)) === '',
    isSaving,
    failures,
    /** Does not stop a save that is running. */
    forgetFailure() {
      if (mutation.error) mutation.reset()
    },
  }
}

export type NewItem = ReturnType<typeof useNewItem>

/** Saves again after a transient failure, while the component that says so is shown. */
export function useRetry({ error, failures }: NewItem, retry: () => void, isStopped = false): void {
  const saveAgain = useEffectEvent(retry)
  useEffect(() => {
    const problem = error && problemOf(error)
    if (isStopped || !problem || !isTransient(problem)) return
    const timer = setTimeout(saveAgain, retryDelayAfter(failures.current, problem))
    return () => clearTimeout(timer)
  }, [error, isStopped, failures])
}
