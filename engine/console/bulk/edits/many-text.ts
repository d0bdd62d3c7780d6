import { countOf, is, joined, number, plural, shownText, was } from '../../formats.ts'
import type { EditManyDialog } from '../../resource/navigation.ts'
import type { Resource } from '../../resource.ts'

/** The question whether many items are changed, and what is said afterwards. */
export function textsOfMany(resource: Resource, { edits, same, isUndo }: EditManyDialog) {
  const { set, isAddition } = edits[0] ?? {}
  const { length } = edits
  const count = countOf(resource, length)
  const field = resource.fields.find(({ name }) => set && name in set)
  const { label = '', choices } = field ?? {}
  const shown = (field && shownText(field, set?.[field.name])) || 'nothing'
  const value = choices ? shown.toLowerCase() : shown
  const setTitle = isUndo ? `Change ${count} back` : `Set ${label.toLowerCase()} to ${value}`
  const title = set ? setTitle : isAddition ? `Add ${count} again` : `Remove ${count}`
  const unchanged = same > 0 && `${number(same)} ${is(same)} already ${value}`
  const ids = isAddition
    ? { one: 'It gets a new id', many: 'They get new ids' }
    : { one: 'It can be added again, with a new id', many: 'They can be added again, with new ids' }
  return {
    title: (hasStarted: boolean) => (hasStarted ? title : `${title}?`),
    start: set && !isUndo ? `Change ${count}` : title,
    plan: `${set ? joined(', ', [`${count} will change`, unchanged]) : plural(ids, length)}.`,

    /**
     * @param length the number of items
     * @param added the heading of the only item that was added again
     * @param before the number of the items that had been added again before
     */
    done(length: number, added: string | undefined, before: number): string {
      const count = countOf(resource, length)
      if (isUndo && set) return `${count} ${was(length)} changed back.`
      if (isAddition && added) return `${added} ${before > 0 ? 'had already been' : 'was'} added again.`
      if (isAddition) return additionText(length, before)
      if (!set) return `${count} ${was(length)} removed.`
      if (choices)
        return `${joined(', ', [`${count} ${is(length)} ${value}`, same > 0 && `${number(same)} ${was(same)} already`])}.`
      return `${joined(', ', [`${label} of ${count} is now ${value}`, same > 0 && `${number(same)} had it already`])}.`
    },

    /** @param length the number of items that somebody else has changed */
    insist(length: number): string {
      const count = countOf(resource, length)
      const verb = !set ? `Remove ${count}` : choices ? `Set ${count} to ${value}` : `Change ${count}`
      return `${verb} anyway`
    },

    results: (done: number, failed: number, unconfirmed: number, left: number) =>
      joined(', ', [
        `${number(done)} done`,
        same > 0 && `${number(same)} had it already`,
        failed > 0 && `${number(failed)} skipped`,
        unconfirmed > 0 && `${number(unconfirmed)} not confirmed`,
        left > 0 && `${number(left)} not sent`,
      ]),
  }

  function additionText(length: number, before: number): string {
    if (before === length) return `${countOf(resource, length)} had already been added again.`
    const added = `${countOf(resource, length - before)} ${was(length - before)} added again`
    if (before > 0) return `${added}, ${number(before)} had already been.`
    return `${added}, ${plural({ one: 'with a new id', many: 'with new ids' }, length)}.`
  }
}
