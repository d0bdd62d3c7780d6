import { expect, test } from 'vitest'
import { type ItemChange, withNext } from '../resource/item/undone.ts'
import type { Values } from '../resource.ts'

/** A change, or a removal, which has no values after it. */
type Step = [before: Values, after?: Values]

const set = (before: string, after: string): Step => [{ state: before }, { state: after }]

test.for<[name: string, steps: Step[], undone: number[], last: number[]]>([
  ['a change', [set('a', 'b')], [], [1]],
  ['an undo', [set('a', 'b'), set('b', 'a')], [1], [2]],
  [
    'two that were undone one after the other',
    [set('a', 'b'), set('b', 'a'), set('a', 'b'), set('b', 'a')],
    [1, 3],
    [2, 4],
  ],
  ['two that were undone in reverse order', [set('a', 'b'), set('b', 'c'), set('c', 'b'), set('b', 'a')], [2, 1], [4]],
  ['the former value of one that was undone', [set('a', 'b'), set('b', 'a'), set('a', 'b')], [2], [1, 3]],
  ['a change after an undo', [set('a', 'b'), set('b', 'a'), set('a', 'c')], [1], [3]],
  ['the first value by way of others', [set('a', 'b'), set('b', 'c'), set('c', 'a')], [], [3]],
  ['another field meanwhile', [set('a', 'b'), [{ text: 'x' }, { text: 'y' }], set('b', 'a')], [1], [2, 3]],
  [
    'a value that there was not',
    [
      [{}, { due: 1n }],
      [{ due: 1n }, {}],
    ],
    [1],
    [2],
  ],
  [
    'only one of two fields',
    [
      [
        { state: 'a', text: 'x' },
        { state: 'b', text: 'y' },
      ],
      set('b', 'a'),
    ],
    [],
    [2],
  ],
  [
    'two fields, of which one was changed meanwhile',
    [
      [
        { state: 'a', text: 'x' },
        { state: 'b', text: 'y' },
      ],
      set('b', 'c'),
      [
        { state: 'b', text: 'y' },
        { state: 'a', text: 'x' },
      ],
    ],
    [],
    [3],
  ],
  ['a removal', [set('a', 'b'), set('b', 'a'), [{ state: 'a' }]], [1], [3]],
])('the changes that were undone, and those that nothing has superseded: %s', ([, steps, undone, last]) => {
  const changes = steps.map(([before, after], index) => ({
    id: BigInt(index + 1),
    itemId: 1n,
    at: new Date(0),
    keyName: 'shop',
    kind: after ? ('update' as const) : ('remove' as const),
    before,
    ...(after && { after }),
  }))
  const others = changes.map((change) => ({ ...change, itemId: 2n, before: { state: 'd' }, after: { state: 'e' } }))
  const found = withNext(
    { title: 'text' },
    [...changes, ...others].toSorted((a, b) => Number(b.id - a.id)),
  )
  const idsOf = (isWanted: (change: ItemChange) => boolean) =>
    found.filter((change) => change.itemId === 1n && isWanted(change)).map(({ id }) => Number(id))
  expect(idsOf(({ isUndone = false }) => isUndone)).toEqual(undone.toSorted((a, b) => b - a))
  expect(idsOf(({ next }) => !next)).toEqual(last.toSorted((a, b) => b - a))
})
