import type { Noun } from '../resource.ts'

/**
 * The texts of the console but for those of a resource. Another language is one more file with the same entries,
 * and one like `web/pets/messages.ts`.
 */
export const messages = {
  page: {
    name: 'Petstore',
    title: (view: string) => `${view} · Petstore`,
    navigation: 'Main',
    list: 'Pets',
    reference: 'API reference',
    colorScheme: { auto: 'Colors: system', light: 'Colors: light', dark: 'Colors: dark' },
    signOut: 'Sign out',
    close: 'Close',
    copy: 'Copy',
    copied: 'Copied',
    unknownPath: 'Page not found',
    unknownPathText: (path: string) => `This service has nothing at ${path}.`,
    toPets: 'Go to the pets',
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
  },

  problem: {
    page: 'This page has an error. Reload it.',
    unreachable: 'The service cannot be reached.',
    offline: 'The service cannot be reached: this device is offline.',
    rateLimited: 'Too many requests.',
    unavailable: 'The service is not available at the moment.',
    retrying: 'Trying again…',
    retryingIn: (seconds: number) => `Trying again in ${duration(seconds)}.`,
    retryNow: 'Try again now',
    requestId: 'Request id',
    copyRequestId: 'Copy the request id',
  },

  keyboard: {
    title: 'Keyboard shortcuts',
    actions: {
      goToId: 'Go to a pet by its id',
      add: 'Add a pet',
      nextItem: 'Next pet',
      previousItem: 'Previous pet',
      nextPage: 'Next page',
      previousPage: 'Previous page',
      close: 'Close the panel',
      help: 'Show this help',
    },
  },

  request: {
    open: 'Request',
    title: 'Request',
    call: 'Call',
    apiKey: 'API key',
    showKey: { text: 'Show', label: 'Show the API key' },
    hideKey: { text: 'Hide', label: 'Hide the API key' },
    keyNote: (isShown: boolean, variable: string) =>
      isShown
        ? 'The texts below contain the key. Keep them secret.'
        : `The texts below read the key from the environment variable ${variable}.`,
    tabs: { curl: 'curl', typed: 'Typed client', generated: 'Generated client', response: 'Response' },
    curlNote: 'For a POSIX shell.',
    typedNote:
      'TypeScript for Node 24, with the package petstore, which npm pack creates in the repository of the service. Ids are bigint and keep every digit.',
    generatedNote:
      'TypeScript for Node 24, with the client that Hey API generates from the OpenAPI document. JSON.parse rounds ids above 2⁵³, so the code reads and writes them as strings. Every digit is kept.',
    noResponse: 'There is no response yet.',
    command: { title: 'Command', copy: 'Copy the command' },
    setup: { title: 'Setup, once', copy: 'Copy the setup' },
    code: { copy: 'Copy the code' },
    json: { title: 'JSON', copy: 'Copy the JSON' },
    selected: 'Selected: press Ctrl+C',
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
    dropHint: 'or drop one here',
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
        invalid > 0 && `${rows(invalid)} ${invalid === 1 ? 'has' : 'have'} a problem`,
      ]),
    problems: {
      notAnObject: 'This is not a JSON object.',
      unknownFields: (names: string[]) => `Unknown fields: ${names.join(', ')}.`,
      cells: (expected: number, found: number) => `${number(expected)} values are expected, not ${number(found)}.`,
      missing: (label: string) => `${the(label)} is missing.`,
      notText: (label: string) => `${the(label)} is not text.`,
      tooLong: (label: string, max: number) => `${the(label)} has more than ${max} characters.`,
      notUnicode: (label: string) => `${the(label)} has an incomplete character.`,
      control: (label: string) => `${the(label)} has a line break, a tab or another control character.`,
      blank: (label: string) => `${the(label)} is only white space.`,
      notInteger: (label: string) => `${the(label)} is not an integer.`,
      inexact: (label: string) => `${the(label)} is too large to be read exactly from JSON. Use CSV.`,
      tooLarge: (label: string) => `${the(label)} does not fit into 64 bits.`,
      notChoice: (label: string, choices: string[]) => `${the(label)} is not one of ${choices.join(', ')}.`,
    },
    table: 'Rows',
    row: 'Row',
    result: 'Result',
    onlyProblems: (count: number) => `Only ${rows(count)} with a problem`,
    copyProblems: (count: number) => `Copy ${rows(count)} as CSV`,
    pages: 'Pages of rows',
    previous: 'Previous',
    next: 'Next',
    page: (first: number, last: number, count: number) => `${number(first)}–${number(last)} of ${number(count)}`,
    add: (noun: Noun, count: number) => `Add ${countOf(noun, count)}`,
    adding: 'Adding…',
    resume: (count: number) => `Add the other ${number(count)}`,
    finished: ({ many }: Noun) => `View ${many}`,
    stop: 'Stop',
    progress: 'Rows that are finished',
    progressOf: (done: number, total: number) => `${number(done)} of ${number(total)}`,
    rate: (perSecond: number) => `${number(perSecond)} per second`,
    remaining: (seconds: number) => `${duration(seconds)} left`,
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
    repeatable: ({ one }: Noun) => `Adding the same rows again within 24 hours adds no ${one} twice.`,
    correctAlone: 'Copy and correct only the rows with a problem, because a changed text counts as new.',
    added: (id: string) => `Added with id ${id}`,
    existed: (id: string) => `There already with id ${id}`,
  },

  export: {
    open: 'Export',
    title: ({ many }: Noun) => `Export ${many}`,
    content: ({ many }: Noun, part: string | undefined, total: { count: number; isExact: boolean } | undefined) => {
      const kind = part ? `${part.toLowerCase()} ${many}` : many
      return `Downloads all ${total?.isExact ? `${number(total.count)} ` : ''}${kind} of the store as a file.`
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

/** Leaves out the parts that are false. */
export function joined(separator: string, parts: (string | false)[]): string {
  return parts.filter((part) => part !== false).join(separator)
}

export function number(value: number): string {
  return value.toLocaleString('en')
}

function countOf({ one, many }: Noun, count: number): string {
  return count === 1 ? `1 ${one}` : `${number(count)} ${many}`
}

function rows(count: number): string {
  return countOf({ one: 'row', many: 'rows' }, count)
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function was(count: number): string {
  return count === 1 ? 'was' : 'were'
}

function the(label: string): string {
  return `The ${label.toLowerCase()}`
}

/** Such as `a, b and c`. */
function listOf(names: string[]): string {
  return new Intl.ListFormat('en-GB').format(names)
}

function duration(seconds: number): string {
  return seconds < 90 ? `${number(seconds)} s` : `${number(Math.round(seconds / 60))} min`
}
