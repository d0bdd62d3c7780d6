import './add-item.css'
import { useRef, useState } from 'react'
import type { ServiceIssue } from '#client'
import { parseTexts, textOf } from '#service/fields'
import { Button } from '../../components/buttons.tsx'
import { IconCheck } from '../../components/icons.tsx'
import { Panel } from '../../components/panel.tsx'
import { asInFiles, entryIn, FieldInput } from '../../form/field-input.tsx'
import { Notice } from '../../form/notice.tsx'
import { joined } from '../../formats.ts'
import { issueTexts } from '../../issues.ts'
import { isTransient, type Problem, problemOf, retryDelayAfter } from '../../problem.ts'
import { Countdown, Reason } from '../../requests/failure.tsx'
import type { Field, Item, Resource, Values } from '../../resource.ts'
import { issuesOf } from '../../rows/table.ts'
import { formDrafts } from '../drafts.ts'
import { doubleTime } from '../edits.ts'
import { useList, useResource } from '../page-context.ts'
import { type NewItem, useRetry } from './new-item.ts'

type Entries = Record<string, string>

/** A panel with the form for a new item. */
export function AddItem({ newItem, onClose }: { newItem: NewItem; onClose: () => void }) {
  const { resource } = useResource()
  function close() {
    newItem.forgetFailure()
    onClose()
  }
  return (
    <Panel title={`Add ${resource.one}`} onClose={close} holdsEntries>
      <ItemForm newItem={newItem} />
    </Panel>
  )
}

/** What the user has entered is kept when the form is closed, and after the key was rejected. */
function ItemForm({ newItem }: { newItem: NewItem }) {
  const { resource, closeForm } = useResource()
  const { view } = useList()
  const { many } = resource
  /** The fields whose entries may be others than those of the last attempt. */
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set())
  const isChanged = changed.size > 0
  const { mutate, isPending, error, entered, addsAnother, setAddsAnother } = newItem
  const [added, setAdded] = useState<Item>()
  /** When the form asked whether an item is added that may exist. Undefined after another entry. */
  const [askedAt, setAskedAt] = useState<number>()
  /** Whether nothing was entered since an item was added. */
  const wasAdded = useRef(false)
  // Another filter does not change the values of an open form.
  const [initial] = useState(() => entriesOf(resource, view.filter))
  const entries = { ...initial, ...entered }
  /** What the console has found wrong itself. */
  const [issues, setIssues] = useState<ServiceIssue[]>([])
  const problem = error && problemOf(error)
  /** The messages at the fields. Each one stays until the user changes its field. */
  const errors = issueTexts(resource, problem ? problem.issues : issues)
  const isGeneral = problem && !errors

  // The user may close the form or leave it before the service responds.
  function submit() {
    if (newItem.isSaving()) return
    // Those of the last render may be older.
    const latest = { ...initial, ...formDrafts.get(many) }
    // The second click of two, and Enter that is held down, must not look like a failure.
    if (wasAdded.current) return
    const texts = resource.entered.map((field) => [field.name, entryIn(inputOf(field), latest[field.name])])
    const values = parseTexts(resource.fields, asInFiles(resource.entered, Object.fromEntries(texts)))
    const found = issuesOf(resource, values)
    setIssues(found)
    setChanged(new Set())
    if (found.length > 0) {
      newItem.forgetFailure()
      return focusFirst(found)
    }
    // The second click of two is no decision.
    if (newItem.mayExist(values) && !(askedAt !== undefined && performance.now() - askedAt > doubleTime))
      return setAskedAt((former = performance.now()) => former)
    setAskedAt(undefined)
    mutate(values, {
      onSuccess(item) {
        if (addsAnother) startNext(item)
        else closeForm()
        wasAdded.current = true
      },
      onError: (failure) => focusFirst(problemOf(failure).issues),
    })
  }

  useRetry(newItem, submit, isChanged)

  function enter(name: string, value: string, others: Entries | undefined) {
    wasAdded.current = false
    setAskedAt(undefined)
    newItem.enter({ ...others, [name]: value })
    setChanged((others) => new Set(others).add(name))
  }

  function focusFirst(invalid: ServiceIssue[] = []) {
    focusInForm(resource.entered.find(({ name }) => invalid.some(({ path }) => path === name)))
  }

  /** Keeps everything but the title for the next item. */
  function startNext(item: Item) {
    setAdded(item)
    enter(resource.title, '', entries)
    focusInForm(resource.entered[0])
  }

  const labels = { add: `Add ${resource.one}`, adding: 'Adding…', retry: 'Try again', anyway: 'Add anyway' }
  const label = problem && isTransient(problem) ? labels.retry : labels.add
  return (
    <form
      className="add-item"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <p className="add-item-added" role="status">
        {added && !isPending && !error && <Added key={String(added.id)} item={added} />}
      </p>
      {askedAt !== undefined && (
        <Notice title={`${textOf(entries[resource.title])} may have been added already`}>
          It was sent with another API key, and there was no response. Look for it in the list first.
        </Notice>
      )}
      {isGeneral && <Failure problem={problem} newItem={newItem} isStopped={isChanged} />}
      {resource.entered.map((field, index) => (
        <FieldInput
          key={field.name}
          field={field}
          name={field.name}
          value={entries[field.name] ?? ''}
          error={changed.has(field.name) ? undefined : errors?.[field.name]}
          onChange={({ currentTarget: { value } }) => {
            // The response replaces the entries.
            if (!isPending) enter(field.name, value, formDrafts.get(many))
          }}
          readOnly={isPending}
          description={descriptionOf(field)}
          isFirst={index === 0}
        />
      ))}
      <div className="add-item-actions">
        <Button type="submit" isDisabled={isPending} labels={Object.values(labels)}>
          {isPending ? labels.adding : askedAt === undefined ? label : labels.anyway}
        </Button>
        <label className="checkbox">
          <input
            type="checkbox"
            checked={addsAnother}
            onChange={(event) => setAddsAnother(event.currentTarget.checked)}
          />
          Add another
        </label>
      </div>
    </form>
  )
}

/** The form may have been opened again since it was sent. */
function formNow(): HTMLFormElement | null {
  return document.querySelector('form.add-item')
}

function inputOf({ name }: Field) {
  return formNow()?.elements.namedItem(name)
}

/** Moves the focus to a field, unless the user has left the form. */
function focusInForm(field: Field | undefined): void {
  const input = field && inputOf(field)
  const focused = document.activeElement
  if (input instanceof HTMLElement && (focused === document.body || formNow()?.contains(focused))) input.focus()
}

/** Beside the label of the first field, which has the focus. It moves nothing. */
function Added({ item }: { item: Item }) {
  const { resource } = useResource()
  return (
    <>
      <IconCheck />
      <span className="visually-hidden">1 added </span>
      <bdi>{textOf(item[resource.title])}</bdi> <span className="number">#{String(item.id)}</span>
    </>
  )
}

interface FailureProps {
  problem: Problem
  newItem: NewItem
  /** Whether the item is not saved again by itself. */
  isStopped: boolean
}

function Failure({ problem, newItem: { isUncertain, failures }, isStopped }: FailureProps) {
  const { resource } = useResource()
  const { retryAfter } = problem
  const seconds = isStopped ? retryAfter : retryDelayAfter(failures.current, problem) / 1_000
  return (
    <Notice title={`The ${resource.one} ${isUncertain ? 'may not have been' : 'was not'} added`} problem={problem}>
      <Reason {...problem}>
        {isTransient(problem) && (!isStopped || retryAfter !== undefined) && (
          <Countdown key={failures.current} seconds={seconds} isManual={isStopped} />
        )}
      </Reason>{' '}
      {isUncertain && <span>{`No ${resource.one} is added twice.`}</span>}
    </Notice>
  )
}

/** The entries of the form before the user changes them: the default values, or those of the filter. */
function entriesOf({ entered }: Resource, filter: Values): Entries {
  return Object.fromEntries(entered.map((field) => [field.name, textOf(filter[field.name] ?? field.default)]))
}

function descriptionOf({ kind, presence, samples }: Field): string {
  const example = kind === 'integer' && `A whole number, such as ${samples?.[0]}.`
  return joined(' ', [example, presence === 'optional' && 'Optional.'])
}
