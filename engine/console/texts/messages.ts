import type { Noun } from '../resource.ts'
import { keyVariable, product } from '../service.ts'
import { capitalized, counted, countOf, date, duration, joined, listOf, number, plural, time } from './formats.ts'

/** The texts of the console that do not depend on its page. */
export const messages = {
  page: {
    title: (view: string) => `${view} · ${product().name}`,
    navigation: 'Main',
    list: ({ many }: Noun) => capitalized(many),
    reference: 'API reference',
    colorScheme: { auto: 'Colors: system', light: 'Colors: light', dark: 'Colors: dark' },
    signOut: 'Sign out',
    signOutEverywhere: 'Sign out in all tabs',
    close: 'Close',
    copy: 'Copy',
    copied: 'Copied',
    unknownPath: 'Page not found',
    unknownPathText: (path: string) => `This service has nothing at ${path}.`,
    toList: ({ many }: Noun) => `Go to the ${many}`,
  },

  session: {
    title: 'Sign in',
    apiKey: 'API key',
    showKey: 'Show the key',
    remember: 'Remember on this device',
    rememberText: 'Until you sign out. Otherwise, the key is forgotten when you close your last tab.',
    signIn: 'Sign in',
    checking: 'Checking…',
    keyMissing: 'Enter an API key.',
    keyInvalid: 'This key is not valid.',
    notChecked: 'The key could not be checked',
    tryLater: 'Try again in a moment.',
    signedOut: 'You were signed out',
    signedOutText: 'The service no longer accepts the key: it was revoked or has expired. Sign in with another one.',
    whereToGetOne: 'The first start of the service prints a key. Its operator creates others:',
    link: 'This link has another key',
    linkText:
      'This tab is signed in already. Signing in with the key of the link ends what is in progress here. Other tabs keep their key.',
    staySignedIn: 'Stay signed in',
  },

  account: {
    open: 'Account',
    key: 'API key',
    expires: 'Expires',
    expiry: (at: Date | undefined) => (at ? date(at) : 'Never'),
    calls: 'Calls left',
    callsLeft: (left: number, all: number, until: Date) => `${number(left)} of ${number(all)} until ${time(until)}`,
    unlimited: 'Unlimited',
    release: 'Release',
  },

  problem: {
    page: 'This page has an error. Reload it.',
    unexpected: 'The service gave an unexpected response.',
    unreachable: 'The service cannot be reached.',
    offline: 'The service cannot be reached: this device is offline.',
    rateLimited: 'Too many requests.',
    unavailable: 'The service is not available at the moment.',
    /** By the codes of the service. For others, its own message is shown. */
    codes: {
      unprocessable: 'Another request had the same idempotency key.',
    },
    retrying: { in: (seconds: number) => `Trying again in ${duration(seconds)}.`, now: 'Trying again…' },
    allowed: { in: (seconds: number) => `Try again in ${duration(seconds)}.`, now: 'Try again.' },
    retryNow: 'Try again now',
    requestId: 'Request id',
    copyRequestId: 'Copy the request id',
  },

  /** What is wrong with a field. */
  issues: {
    required: (label: string) => `${the(label)} is missing.`,
    notText: (label: string) => `${the(label)} is not text.`,
    length: (label: string, minimum: number, maximum: number) =>
      `${the(label)} needs ${number(minimum)} to ${counted(maximum, { one: 'character', other: 'characters' })}.`,
    unicode: (label: string) => `${the(label)} has an incomplete character.`,
    control: (label: string) => `${the(label)} has a line break, a tab or another control character.`,
    blank: (label: string) => `${the(label)} is only white space.`,
    notInteger: (label: string) => `${the(label)} is not an integer.`,
    inexact: (label: string) => `${the(label)} is too large to be read exactly from JSON. Use CSV.`,
    notInt64: (label: string) => `${the(label)} does not fit into 64 bits.`,
    notChoice: (label: string, choices: string[]) => `${the(label)} is not one of ${choices.join(', ')}.`,
    /** @param expectation from the service */
    other: (label: string, expectation: string) => `${the(label)} is not valid. Expected ${expectation}.`,
  },

  keyboard: {
    title: 'Keyboard shortcuts',
    actions: ({ one }: Noun) => ({
      search: 'Search, or go to an id',
      add: `Add a new ${one}`,
      nextItem: `Next ${one}`,
      previousItem: `Previous ${one}`,
      selectItem: `Select the ${one}, or deselect it`,
      selectNext: `Select also the next ${one}`,
      selectPrevious: `Select also the previous ${one}`,
      nextPage: 'Next page',
      previousPage: 'Previous page',
      close: 'Close the panel, or clear the selection or the search',
      help: 'Show this help',
    }),
  },

  requests: {
    title: 'Requests',
    note: 'What you did, newest first, and below it what the page loaded besides. Equal requests are one.',
    empty: 'This tab has sent no request yet.',
    show: 'Show the request',
    time,
    outcomes: { pending: 'Pending', cancelled: 'Cancelled', unanswered: 'No response', known: 'Known' },
    duration: (milliseconds: number) => `${number(milliseconds)} ms`,
    curl: () => `The same call of the REST API, with your API key in ${keyVariable()}:`,
    copyCurl: 'Copy the command',
    onlyRpc: (procedure: string) => `Only the RPC API has ${procedure}. In TypeScript, with the typed client:`,
  },

  notLoaded: {
    text: 'This part of the console could not be loaded: the service cannot be reached, or it was updated. Reload the page.',
    reload: 'Reload',
  },

  bulk: {
    open: 'Add many',
    title: ({ many }: Noun) => `Add many ${many}`,
    source: 'Paste CSV, TSV or JSON',
    sourceHint: ({ one }: Noun, columns: string[], optional: string[]) =>
      joined(' ', [
        `One ${one} per row: ${listOf(columns)}.`,
        optional.length > 0 && `The ${listOf(optional)} may be omitted.`,
        'A header row allows any order.',
      ]),
    chooseFile: 'Choose a file',
    file: (name: string) => `From ${name}`,
    dropHint: 'or drop one here',
    startOver: 'Start over',
    drop: 'Drop the file to read it',
    fileTooLarge: (megabytes: number) => `The file is larger than ${megabytes} MB.`,
    fileNotUtf8: 'The file is not UTF-8 text. Save it as “CSV UTF-8”.',
    fileUnreadable: 'The file cannot be read.',
    tooManyRows: (rows: number, max: number) =>
      `${number(rows)} rows are too many. Add at most ${number(max)} at a time.`,
    quotes: (row: number) => `The quotes do not match from row ${number(row)} on.`,
    notJson: (reason: string) => `The text is not valid JSON: ${reason}`,
    header: (columns: string[], unknown: string[], repeated: string[], missing: string[]) =>
      joined(' ', [
        `The columns are ${listOf(columns)}. An id is ignored.`,
        unknown.length > 0 && `Unknown: ${unknown.join(', ')}.`,
        repeated.length > 0 && `Repeated: ${repeated.join(', ')}.`,
        missing.length > 0 && `Missing: ${missing.join(', ')}.`,
      ]),
    formats: {
      comma: 'CSV with commas',
      semicolon: 'CSV with semicolons',
      tab: 'TSV',
      json: 'JSON',
      ndjson: 'JSON, one object per line',
    },
    withHeader: 'with a header row',
    withoutHeader: 'without a header row',
    summary: (noun: Noun, valid: number, invalid: number) =>
      joined(', ', [
        `${countOf(noun, valid)} can be added`,
        invalid > 0 && `${rows(invalid)} ${plural(invalid, { one: 'has', other: 'have' })} a problem`,
      ]),
    skipped: (noun: Noun, count: number) =>
      `${countOf(noun, count)} ${was(count)} added before, and ${plural(count, { one: 'is', other: 'are' })} skipped.`,
    unused: (names: string[]) =>
      `${plural(names.length, { one: 'The column', other: 'The columns' })} ${listOf(names)} ${plural(names.length, { one: 'is', other: 'are' })} not used.`,
    notAnObject: 'This is not a JSON object.',
    unknownFields: (names: string[]) => `Unknown fields: ${names.join(', ')}.`,
    cells: (expected: number, found: number, surplus: string[]) =>
      joined(' ', [
        `${counted(expected, { one: 'value is', other: 'values are' })} expected, not ${number(found)}.`,
        surplus.length > 0 && `Too many: ${surplus.join(', ')}`,
      ]),
    table: 'Rows',
    row: 'Row',
    result: 'Result',
    cell: (label: string, row: number) => `${label}, row ${number(row)}`,
    onlyProblems: (count: number) => `Only ${rows(count)} to correct`,
    pages: 'Pages of rows',
    previous: 'Previous',
    next: 'Next',
    page: (first: number, last: number, count: number) => `${number(first)}–${number(last)} of ${number(count)}`,
    add: (noun: Noun, count: number) => `Add ${count === 0 ? noun.many : countOf(noun, count)}`,
    addCorrected: (count: number) => `Add ${counted(count, { one: 'corrected row', other: 'corrected rows' })}`,
    adding: 'Adding…',
    resume: (count: number) => `Add the other ${number(count)}`,
    finished: ({ many }: Noun) => `View ${many}`,
    stop: 'Stop',
    progress: 'Rows that are finished',
    progressOf: (done: number, total: number) => `${number(done)} of ${number(total)}`,
    stopBeforeClosing: ({ many }: Noun) =>
      `${capitalized(many)} are being added. Stop that before you close this panel.`,
    results: (noun: Noun, added: number, existed: number, failed: number) =>
      joined(', ', [
        `${countOf(noun, added)} ${was(added)} added`,
        existed > 0 && `${number(existed)} ${was(existed)} there already`,
        failed > 0 && `${number(failed)} could not be added`,
      ]),
    stopped: ({ one }: Noun, left: number) =>
      `${rows(left)} ${was(left)} not confirmed. Continuing adds no ${one} twice.`,
    repeatable: ({ one }: Noun) =>
      `Adding the same rows again within 24 hours with the same API key adds no ${one} twice.`,
    correct: 'Correct the other rows in the table: a changed text counts as new.',
    left: (added: number, waiting: number) =>
      joined(', ', [
        added > 0 && `${number(added)} added`,
        `${rows(waiting)} ${plural(waiting, { one: 'waits', other: 'wait' })}`,
      ]),
    show: 'Show the rows',
    corrected: 'Corrected',
    added: (id: string) => `Added with id ${id}`,
    existed: (id: string) => `There already with id ${id}`,
    unconfirmed: 'Sent, not confirmed yet',
  },

  export: {
    open: 'Export',
    title: ({ many }: Noun) => `Export ${many}`,
    /** @param total undefined if it is not known exactly */
    content: (noun: Noun, part: string | undefined, search: string | undefined, total: number | undefined) => {
      const kind = part ? `${part.toLowerCase()} ` : ''
      const kinds = { one: kind + noun.one, many: kind + noun.many }
      const items = total === undefined ? `all ${kinds.many}` : `${total === 1 ? '' : 'all '}${countOf(kinds, total)}`
      const source = search === undefined ? 'of the store' : `found by “${search}”`
      return `Downloads ${items} ${source} as a file.`
    },
    formats: { csv: 'CSV', json: 'JSON' },
    progress: ({ many }: Noun) => `${capitalized(many)} that are exported`,
    loaded: (noun: Noun, count: number, total: number | undefined) =>
      total === undefined ? `${countOf(noun, count)} loaded…` : `${number(count)} of ${countOf(noun, total)} loaded…`,
    cancel: 'Cancel',
    done: (noun: Noun, count: number) => `${countOf(noun, count)} ${was(count)} exported.`,
    nothing: ({ one }: Noun) => `There is no ${one} to export.`,
    failed: ({ many }: Noun) => `The ${many} could not be exported`,
  },
}

function rows(count: number): string {
  return counted(count, { one: 'row', other: 'rows' })
}

function was(count: number): string {
  return plural(count, { one: 'was', other: 'were' })
}

function the(label: string): string {
  return `The ${label.toLowerCase()}`
}
