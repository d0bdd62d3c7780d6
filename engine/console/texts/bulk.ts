import { rounded } from '#service/fields'
import type { Noun } from '../resource.ts'
import { capitalized, countOf, joined, listOf, number, plural, rows, was } from './formats.ts'

/** The texts of the import. They are loaded with it. */
export const bulk = {
  title: ({ many }: Noun) => `Add many ${many}`,
  source: 'Paste CSV, TSV or JSON',
  sourceHint: ({ one }: Noun, labels: string[], optional: string[], columns: string[]) =>
    joined(' ', [
      `One ${one} per row: ${listOf(labels)}.`,
      optional.length > 0 && `The ${listOf(optional)} may be empty.`,
      `A header row such as ${columns.join()} allows any order.`,
    ]),
  chooseFile: 'Choose a file',
  file: (name: string) => `From ${name}`,
  dropHint: 'or drop one here',
  startOver: 'Start over',
  fileTooLarge: (megabytes: number) => `The file is larger than ${megabytes} MB.`,
  fileEmpty: (name: string) => `${name} has no rows.`,
  fileUnreadable: 'The file cannot be read.',
  rowsKept: 'Your rows are kept.',
  noRows: ({ one }: Noun) => `There is no ${one} in it. Add a row for each ${one}.`,
  tooManyRows: (rows: number, max: number) =>
    `${number(rows)} rows are too many. Add at most ${number(max)} at a time.`,
  formats: {
    comma: 'CSV with commas',
    semicolon: 'CSV with semicolons',
    tab: 'TSV',
    json: 'JSON',
    ndjson: 'JSON, one object per line',
  },
  summary: (noun: Noun, valid: number, invalid: number) =>
    joined(', ', [
      `${countOf(noun, valid)} can be added`,
      invalid > 0 && `${rows(invalid)} ${plural({ one: 'has', many: 'have' }, invalid)} a problem`,
    ]),
  skipped: (noun: Noun, count: number) => `${countOf(noun, count)} ${was(count)} already added, and will be skipped.`,
  repeated: (count: number) =>
    `${rows(count)} ${plural({ one: 'is', many: 'are' }, count)} the same as an earlier row, and will be added, too.`,
  sameAs: (row: number) => `Same as row ${number(row)}`,
  table: 'Rows',
  row: 'Row',
  result: 'Result',
  cell: (label: string, row: number) => `${label}, row ${number(row)}`,
  onlyProblems: (left: number, corrected: number) =>
    `Only ${joined(' and ', [left > 0 && `${rows(left)} to correct`, corrected > 0 && correctedRows(corrected)])}`,
  more: (count: number) => `${rows(count)} more`,
  add: (noun: Noun, count: number) => `Add ${count === 0 ? noun.many : countOf(noun, count)}`,
  addCorrected: (count: number) => `Add ${correctedRows(count)}`,
  adding: 'Adding…',
  resume: (count: number) => `Add the other ${number(count)}`,
  finished: ({ many }: Noun) => `View ${many}`,
  stop: 'Stop',
  progress: 'Rows that are finished',
  progressOf: (done: number, total: number) => `${number(done)} of ${number(total)}`,
  stopBeforeClosing: ({ many }: Noun) => `${capitalized(many)} are being added. Stop that before you close this panel.`,
  results: (noun: Noun, added: number, existed: number, failed: number) =>
    joined(', ', [
      `${countOf(noun, added)} ${was(added)} added`,
      existed > 0 && `${number(existed)} had already been added`,
      failed > 0 && `${number(failed)} could not be added`,
    ]),
  existing: (noun: Noun, count: number) =>
    `${countOf(noun, count)} ${was(count)} added by an earlier import, and may have been removed since. Adding ${count === 1 ? 'it' : 'them'} again creates ${count === 1 ? `a further ${noun.one}` : `${number(count)} further ${noun.many}`}.`,
  addAgain: (count: number) => `Add ${number(count)} again`,
  doubtful: (noun: Noun, count: number) =>
    `${countOf(noun, count)} may have been added with another API key. Look for ${count === 1 ? 'it' : 'them'} first: adding ${count === 1 ? 'it' : 'them'} now may add ${count === 1 ? 'it' : 'them'} twice.`,
  addDoubtful: (count: number) => `Add ${number(count)} anyway`,
  stopped: ({ one }: Noun, left: number) =>
    `${rows(left)} ${was(left)} not confirmed. Continuing adds no ${one} twice.`,
  repeatable: ({ one }: Noun) =>
    `Adding the same rows again within 24 hours with the same API key adds no ${one} twice.`,
  correct: 'Correct the other rows in the table, then add them.',
  corrected: 'Corrected',
  added: (id: string) => `Added with id ${id}`,
  existed: (id: string) => `Already added with id ${id}`,
  unconfirmed: 'Sent, not confirmed yet',
  isDoubtful: 'May have been added',
}

function correctedRows(count: number): string {
  return countOf({ one: 'corrected row', many: 'corrected rows' }, count)
}

/** The texts of the export. */
export const exporting = {
  title: ({ many }: Noun) => `Export ${many}`,
  /** @param total undefined if it is not known exactly */
  content: (noun: Noun, search: string | undefined, total: number | undefined) => {
    const items = total === undefined ? `all ${noun.many}` : `${total === 1 ? '' : 'all '}${countOf(noun, total)}`
    const source = search === undefined ? 'of the store' : `found by “${search}”`
    return `Downloads ${items} ${source} as a file.`
  },
  progress: ({ many }: Noun) => `${capitalized(many)} that are exported`,
  loaded: (noun: Noun, count: number, total: number | undefined) =>
    total === undefined ? `${countOf(noun, count)} loaded…` : `${number(count)} of ${countOf(noun, total)} loaded…`,
  cancel: 'Cancel',
  done: (noun: Noun, count: number) => `${countOf(noun, count)} ${was(count)} exported.`,
  nothing: ({ one }: Noun) => `There is no ${one} to export.`,
  failed: ({ many }: Noun) => `The ${many} could not be exported`,
}

const characters = { one: 'character', many: 'characters' }

/** What is wrong with a field. */
export const issues = {
  required: (label: string) => `${the(label)} is missing.`,
  notText: (label: string) => `${the(label)} is not text.`,
  /** @param length undefined if only the service knows it */
  length: (label: string, length: number | undefined, minimum: number, maximum: number) =>
    length === undefined
      ? `${the(label)} needs ${number(minimum)} to ${countOf(characters, maximum)}.`
      : `${the(label)} has ${countOf(characters, length)}. It can have at most ${number(maximum)}.`,
  unicode: (label: string) => `${the(label)} has an incomplete character.`,
  control: (label: string) => `${the(label)} has a line break, a tab or another control character.`,
  blank: (label: string) => `${the(label)} has only spaces.`,
  unique: (label: string) => `Another one has the same ${label.toLowerCase()}.`,
  notInteger: (label: string) => `${the(label)} is not a whole number.`,
  inexact: (label: string) => `${the(label)} is too large to be read exactly from JSON. Use CSV.`,
  rounded: (label: string) => `${the(label)} ${rounded}.`,
  notInt64: (label: string) => `${the(label)} has too many digits.`,
  notTime: (label: string) => `${the(label)} is not a time such as 2026-11-20T08:30:00.000Z.`,
  notChoice: (label: string, choices: string[]) => `${the(label)} is not one of ${choices.join(', ')}.`,
  /** @param expectation from the service */
  other: (label: string, expectation: string) => `${the(label)} is not valid. Expected ${expectation}.`,
}

function the(label: string): string {
  return `The ${label.toLowerCase()}`
}
