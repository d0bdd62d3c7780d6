import { createIdempotencyKey } from '#client'
import type { Edit } from '../resource.ts'

/**
 * The idempotency key of an edit: `edit/<action>/<id of the item>`, and `/<what it undoes>` of an undo. The service keeps it
 * with the change. So the history says which changes are one action of a user, and which one an action has undone.
 */

/** What undoes the addition of an item. */
export const theAddition = 'addition'

/** @param undoes the action, or {@link theAddition} */
export function editKeyOf(id: bigint, undoes?: string, action = createIdempotencyKey()): string {
  return `edit/${action}/${id}${undoes === undefined ? '' : `/${undoes}`}`
}

/** Makes edits one action. */
export function together(edits: Edit[]): Edit[] {
  const action = createIdempotencyKey()
  const keyOf = ({ seen, idempotencyKey }: Edit) => editKeyOf(seen.id, actionOf(idempotencyKey).undoes, action)
  return edits.map((edit) => ({ ...edit, idempotencyKey: keyOf(edit) }))
}

/** The action of an idempotency key, and the one that it undoes. Empty if the key is not that of an edit. */
export function actionOf(idempotencyKey = ''): { action?: string; undoes?: string } {
  const [kind, action, , undoes] = idempotencyKey.split('/')
  return kind === 'edit' && action ? { action, ...(undoes && { undoes }) } : {}
}
