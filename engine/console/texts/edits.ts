import type { Noun } from '../resource.ts'
import { keyVariable } from '../service.ts'
import { capitalized, countOf, date, joined, number, plural, rows, was } from './formats.ts'

/** The texts of an item, and of what adds, changes and removes items. They are loaded after the list. */
export function editTextsOf(noun: Noun) {
  const { one, many } = noun
  const [One, Many] = [capitalized(one), capitalized(many)]
  return {
    item: {
      heading: (id: bigint) => `${One} ${id}`,
      copyLink: 'Copy link',
      copyJson: 'Copy JSON',
      request: 'Request and JSON',
      curl: `A request, with your API key in ${keyVariable()}`,
      previous: `Previous ${one}`,
      next: `Next ${one}`,
      loading: `Loading the ${one}`,
      missing: (id: bigint) => `No ${one} has the id ${id}`,
      removedBy: (by: string | undefined, at: Date) => `${by === undefined ? '' : `By ${by}, `}${date(at)}.`,
      missingText: 'It may never have existed, or it was removed.',
      notLoaded: `The ${one} could not be loaded`,
    },

    edit: {
      of: (label: string, title: string) => `${label} of ${title}`,
      set: (label: string) => `Set ${label.toLowerCase()}`,
      edit: (label: string) => `Edit the ${label.toLowerCase()}`,
      remove: `Remove ${one}`,
      removeShort: 'Remove',
      clearFilter: (value: string) => `Remove the filter ${value}`,
      readOnlyShort: 'Read only',
      readOnly: (hasHistory: boolean) =>
        `Your API key can only show ${many}.${hasHistory ? ' It cannot show who changed what.' : ''}`,
      cannotChange: `Your API key can only show ${many}. It cannot change them.`,
      last: 'Last change',
      dismiss: 'Dismiss',
      showThem: 'Show them',
      undo: 'Undo',
      withKey: (action: string) => `${action} with Z.`,
      undone: (text: string) => `Change undone. ${text}`,
      nothingToUndo: (hasHistory: boolean) =>
        `There is nothing to undo.${hasHistory ? ' What was changed before is under Changes.' : ''}`,
      isNow: (title: string, value: string) => `${title} is ${value.toLowerCase()}.`,
      isAlready: (title: string, value: string) => `${title} is already ${value.toLowerCase()}.`,
      changedTo: (label: string, title: string, value: string, isOne: boolean) =>
        `${label} of ${title} ${isOne ? 'is' : 'are'} now ${value || 'empty'}.`,
      removing: (title: string) => `${title} will be removed.`,
      additionUndone: (text: string) => `Addition undone: ${text}`,
      removed: (title: string, by?: string) => `${title} was removed${by === undefined ? '' : ` by ${by}`}.`,
      stays: (title: string) => `${title} stays.`,
      notRepeated: (title: string) => `The console no longer tries to remove ${title}.`,
      waiting: (title: string, changes: number) =>
        changes > 1 ? `${number(changes)} changes are not saved yet.` : `${title} is not saved yet.`,
      discard: (changes: number) => (changes > 1 ? 'Discard them' : 'Discard'),
      notSaved: 'Not saved',
      keys: 'Enter or leaving saves, Esc discards',
      save: 'Save',
      meanwhile: (by: string | undefined, former: string, value: string) =>
        `${by ?? someone} changed it from ${quoted(former)} to ${quoted(value)}.`,
      choose: 'Choose “Keep theirs” or “Use mine”.',
      /** @param isFormer whether the value that was not saved is one that the item had before */
      conflict: (
        by: string | undefined,
        label: string,
        title: string,
        theirs: string,
        mine: string,
        isFormer: boolean,
      ) =>
        `${by ?? someone} changed the ${label.toLowerCase()} of ${title} to ${quoted(theirs)}. ${yours(mine, isFormer)}`,
      conflictOfRemoval: (by: string | undefined, title: string) =>
        `${by ?? someone} changed ${title}, so it was not removed.`,
      wasRemoved: (title: string, mine: string, isFormer: boolean) =>
        `${title} was removed meanwhile. ${yours(mine, isFormer)}`,
      yours,
      failed: (title: string) => `${title} was not changed.`,
      keepTheirs: 'Keep theirs',
      useMine: 'Use mine',
      keep: 'Keep',
      removeAnyway: 'Remove anyway',
      copyMine: 'Copy your value',
      copyFormer: 'Copy the former value',
    },

    add: {
      description: (integer: unknown, isOptional: boolean) =>
        joined(' ', [integer !== undefined && `A whole number, such as ${integer}.`, isOptional && 'Optional.']),
      adding: 'Adding…',
      retry: 'Try again',
      another: 'Add another',
      justAdded: 'Just added',
      count: (count: number) => `${number(count)} added`,
      showNewest: 'Show newest',
      showForm: 'Show the form',
      left: (added: number, waiting: number) =>
        joined(', ', [
          added > 0 && `${number(added)} added`,
          `${rows(waiting)} ${plural({ one: 'is', many: 'are' }, waiting)} not added yet`,
        ]),
      showRows: 'Show the rows',
      notAdded: `The ${one} was not added`,
      uncertain: `The ${one} may not have been added`,
      mayExist: (title: string) => `${title} may have been added already`,
      mayExistText: `It was sent with another API key, and there was no response. Look for it in the list first.`,
      addAnyway: 'Add anyway',
      uncertainText: `No ${one} is added twice.`,
    },

    many: {
      copy: 'Copy',
      ids: 'Ids',
      clearSelection: 'Clear the selection',
      title: (label: string, value: string) => `Set ${label.toLowerCase()} to ${value}?`,
      removeTitle: (count: number) => `Remove ${countOf(noun, count)}?`,
      plan: (changed: number, same: number, value: string) =>
        joined(', ', [
          `${countOf(noun, changed)} will change`,
          same > 0 && `${number(same)} ${plural({ one: 'is', many: 'are' }, same)} already ${value}`,
        ]),
      setOther: 'Set a value',
      areSelected: (count: number) => `${countOf(noun, count)} ${plural({ one: 'is', many: 'are' }, count)} selected`,
      value: 'Value',
      field: 'Field',
      planOf: (label: string, changed: number, same: number, isEmpty: boolean) =>
        joined(', ', [
          `${countOf(noun, changed)} will ${isEmpty ? `have no ${label.toLowerCase()}` : 'change'}`,
          same > 0 && `${number(same)} will not`,
        ]),
      others: (count: number) => `and ${number(count)} more`,
      removal: (count: number) =>
        plural({ one: 'It can be added again, with a new id', many: 'They can be added again, with new ids' }, count),
      change: (count: number) => `Change ${countOf(noun, count)}`,
      remove: (count: number) => `Remove ${countOf(noun, count)}`,
      cancel: 'Cancel',
      stop: 'Stop',
      notDone: `The ${many} were not changed`,
      undoTitle: (count: number) => `Change ${countOf(noun, count)} back?`,
      undone: (count: number) => `${countOf(noun, count)} ${was(count)} changed back.`,
      resume: (count: number) => `Continue with ${number(count)}`,
      progress: `${Many} that are changed`,
      addTitle: (count: number) => `Add ${countOf(noun, count)} again?`,
      addAgain: (count: number) => `Add all ${number(count)} again`,
      changeBack: (count: number, areAll: boolean) => `Change ${areAll ? 'all ' : ''}${number(count)} back`,
      itemAddedAgain: (item: string, isBefore: boolean) =>
        `${item} ${isBefore ? 'had already been' : 'was'} added again.`,
      addedAgain: (count: number, before: number) =>
        before === count
          ? `${countOf(noun, count)} had already been added again.`
          : `${countOf(noun, count - before)} ${was(count - before)} added again, ${before > 0 ? `${number(before)} had already been` : plural({ one: 'with a new id', many: 'with new ids' }, count)}.`,
      unchanged: (count: number) =>
        `${countOf(noun, count)} already ${plural({ one: 'has', many: 'have' }, count)} this value.`,
      removed: (count: number) => `${countOf(noun, count)} ${was(count)} removed.`,
      done: (count: number, value: string, same: number) =>
        `${countOf(noun, count)} ${plural({ one: 'is', many: 'are' }, count)} ${value}${same > 0 ? `, ${number(same)} ${was(same)} already` : ''}.`,
      doneOf: (label: string, count: number, value: string, same: number) =>
        `${label} of ${countOf(noun, count)} is now ${value}${same > 0 ? `, ${number(same)} had it already` : ''}.`,
      results: (done: number, same: number, failed: number, unconfirmed: number, left: number) =>
        joined(', ', [
          `${number(done)} done`,
          same > 0 && `${number(same)} had it already`,
          failed > 0 && `${number(failed)} skipped`,
          unconfirmed > 0 && `${number(unconfirmed)} not confirmed`,
          left > 0 && `${number(left)} not sent`,
        ]),
      selectAll: (count: string) => `Select all ${count} that match`,
      elsewhere: (count: number) => `${number(count)} not on this page`,
      selecting: (count: number) => `${number(count)} selected…`,
    },

    changes: {
      title: `Changes of ${many}`,
      latest: 'Latest changes',
      all: 'All changes',
      notForThisKey: `Your API key cannot show changes. Click a ${one} to see it here.`,
      history: 'History',
      loading: 'Loading the changes',
      notLoaded: 'The changes could not be loaded',
      none: `No ${one} has been changed or removed yet.`,
      noneOfItem: 'Not changed yet.',
      removed: (item: string) => `${item} was removed`,
      /** @param isWhole whether there are no more */
      manyChanged: (count: number, isWhole: boolean) => manyOf(noun, count, isWhole),
      manyRemoved: (count: number, isWhole: boolean) => `${manyOf(noun, count, isWhole)} ${was(count)} removed`,
      became: 'became',
      empty: 'nothing',
      were: (count: number) => `${number(count)} ${was(count)}`,
      otherValues: (count: number) => `, and ${number(count)} more`,
      formerValues: 'what they were',
      noneFound: 'No changes match. Choose another kind, key or day.',
      kinds: { all: 'All', update: 'Changed', remove: 'Removed' },
      filter: {
        kind: 'Kind of change',
        by: 'By',
        anyone: 'Anyone',
        ofLatest: (changes: number) => `Of the latest ${number(changes)} changes`,
        until: 'Until',
      },
      comparing: 'Looking at earlier changes…',
      compared: (changes: number, areSome: boolean) =>
        `Of the latest ${number(changes)} changes, ${areSome ? 'these match' : 'none matches. “Show more” looks at earlier ones'}.`,
      note: `What is added is not listed here. In the list, the newest ${many} come first if you click on the id.`,
      ofDay: (changed: number, removed: number) =>
        joined(', ', [changed > 0 && `${number(changed)} changed`, removed > 0 && `${number(removed)} removed`]),
      shown: (changes: number) => `${countOf({ one: 'change', many: 'changes' }, changes)} shown`,
      notCounted: 'Not all loaded yet',
      addAgain: 'Add again',
      addedAgain: 'Added again',
      /** Before what it is called now. */
      addedAs: 'as',
      changeBack: 'Change back',
      changedBack: 'Changed back',
      changedSince: 'Changed since',
      /** What tells the buttons for reversals apart. @param values the fields and what they become */
      reversalOf: (action: string, item: string, values: [label: string, value: string][]) => {
        const changes = values.map(([label, value]) => `${label.toLowerCase()} to ${value}`)
        return `${action}: ${[item, ...changes].join(', ')}`
      },
      by: 'by',
      unknownKey: 'an unknown key',
      more: 'Show more',
    },
  }
}

function manyOf(noun: Noun, count: number, isWhole: boolean): string {
  return isWhole ? countOf(noun, count) : `${number(count)} or more ${noun.many}`
}

function yours(mine: string, isFormer = false): string {
  return `${isFormer ? 'Former' : 'Your'} value: ${quoted(mine)}.`
}

/** A value in a sentence, such as `“Ball”`. */
function quoted(value: string): string {
  return value ? `“${value}”` : 'nothing'
}

/** Who has changed something, if the name of the API key is not known. */
const someone = 'Someone'

export type EditTexts = ReturnType<typeof editTextsOf>
