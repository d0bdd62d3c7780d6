import { expect, test } from 'vitest'
import { undoneOf } from '../resource/item/undone.ts'
import type { Values } from '../resource.ts'

/** A change, or a removal, which has no values after it. */
type Step = [before: Values, after?: Values]

const set = (before: string, after: string): Step => [{ state: before }, { state: after }]

test.for<[name: string, steps: Step[], undone: number[]]>([
  ['a change', [set('a', 'b')], []],
  ['an undo', [set('a', 'b'), set('b', 'a')], [1]],
  ['two that were undone one after the other', [set('a', 'b'), set('b', 'a'), set('a', 'b'), set('b', 'a')], [1, 3]],
  ['two that were undone in reverse order', [set('a', 'b'), set('b', 'c'), set('c', 'b'), set('b', 'a')], [2, 1]],
  ['the former value of one that was undone', [set('a', 'b'), set('b', 'a'), set('a', 'b')], [2]],
  ['a change after an undo', [set('a', 'b'), set('b', 'a'), set('a', 'c')], [1]],
  ['the first value by way of others', [set('a', 'b'), set('b', 'c'), set('c', 'a')], []],
  ['another field meanwhile', [set('a', 'b'), [{ text: 'x' }, { text: 'y' }], set('b', 'a')], [1]],
  [
    'a value that there was not',
    [
      [{}, { due: 1n }],
      [{ due: 1n }, {}],
    ],
    [1],
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
  ],
  ['a removal', [set('a', 'b'), set('b', 'a'), [{ state: 'a' }]], [1]],
])('the changes that were undone: %s', ([, steps, undone]) => {
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
  const found = undoneOf([...changes, ...others].toSorted((a, b) => Number(b.id - a.id)))
  expect([...found].map(({ id }) => Number(id))).toEqual(undone.toSorted((a, b) => b - a))
})
