import { expect, test } from 'vitest'
import { type ItemChange, lacksUndone, withNext } from '../resource/item/undone.ts'
import type { Values } from '../resource.ts'

/** A change, or a removal, which has no values after it, and the number of the one that it undoes. */
type Step = [before: Values, after?: Values, undoes?: number | undefined]

const set = (before: string, after: string, undoes?: number): Step => [{ state: before }, { state: after }, undoes]

test.for<[name: string, steps: Step[], undone: number[], last: number[]]>([
  ['a change', [set('a', 'b')], [], [1]],
  ['an undo', [set('a', 'b'), set('b', 'a', 1)], [1], [2]],
  ['the former value by a change of its own', [set('a', 'b'), set('b', 'a')], [], [2]],
  [
    'two that were undone one after the other',
    [set('a', 'b'), set('b', 'a', 1), set('a', 'b'), set('b', 'a', 3)],
    [1, 3],
    [2, 4],
  ],
  [
    'two that were undone in reverse order',
    [set('a', 'b'), set('b', 'c'), set('c', 'b', 2), set('b', 'a', 1)],
    [2, 1],
    [4],
  ],
  ['an undo that was undone', [set('a', 'b'), set('b', 'a', 1), set('a', 'b', 2)], [2], [1, 3]],
  ['the same change again after an undo', [set('a', 'b'), set('b', 'a', 1), set('a', 'b')], [1], [3]],
  ['a change after an undo', [set('a', 'b'), set('b', 'a', 1), set('a', 'c')], [1], [3]],
  ['an undo although somebody had changed it again', [set('a', 'b'), set('b', 'c'), set('c', 'a', 1)], [], [3]],
  ['another field meanwhile', [set('a', 'b'), [{ text: 'x' }, { text: 'y' }], set('b', 'a', 1)], [1], [2, 3]],
  [
    'a value that there was not',
    [
      [{}, { due: 1n }],
      [{ due: 1n }, {}, 1],
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
      set('b', 'a', 1),
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
      [{ state: 'b', text: 'y' }, { state: 'a', text: 'x' }, 1],
    ],
    [],
    [3],
  ],
  ['a removal', [set('a', 'b'), set('b', 'a', 1), [{ state: 'a' }]], [1], [3]],
])('the changes that were undone, and those that nothing has superseded: %s', ([, steps, undone, last]) => {
  const changes = steps.map(([before, after, undoes], index) => ({
    id: BigInt(index + 1),
    itemId: 1n,
    action: `${index + 1}`,
    ...(undoes && { undoes: `${undoes}` }),
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

test.for([
  ['a change', [{}], false],
  ['an undo without what it has undone', [{ undoes: 'sale' }, {}], true],
  ['an undo and what it has undone', [{ undoes: 'sale' }, { action: 'sale' }], false],
  ['an undo of another day', [{ undoes: 'sale' }, { at: new Date(2026, 0, 1) }], false],
  ['the undo of an addition', [{ undoes: 'addition' }, {}], false],
] as const)('the changes of a day go on until each undo has what it has undone: %s', ([, parts, isLacking]) => {
  const change = { id: 1n, itemId: 1n, kind: 'update' as const, at: new Date(2026, 0, 2), before: {}, action: 'other' }
  expect(lacksUndone(parts.map((part) => ({ ...change, ...part })))).toBe(isLacking)
})
