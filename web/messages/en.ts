import type { Pet, PetStatus } from '../../client/index.ts'

/** Every text of the console. Another language is one more file with the same entries. */
export const messages = {
  page: {
    name: 'Petstore',
    title: (view: string) => `${view} · Petstore`,
    navigation: 'Main',
    pets: 'Pets',
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

  list: {
    title: (status: string | undefined) => (status ? `${status} pets` : 'Pets'),
    filter: 'Status',
    all: 'All',
    count: (count: number, isExact: boolean) => `${number(count)}${isExact ? '' : '+'}`,
    share: (status: string, count: string) => `${status}: ${count}`,
    goToId: 'Go to id',
    idInvalid: 'Enter 1 to 19 digits.',
    justAdded: 'Just added',
    dismiss: 'Dismiss',
    loading: 'Loading…',
    range: (first: number, last: number) => `${number(first)}–${number(last)}`,
    rangeOf: (range: string, total: string) => `${range} of ${total}`,
    after: (pets: number, id: bigint) => `${pets === 1 ? '1 pet' : `${pets} pets`} after id ${id}`,
    none: 'No pets',
    pages: 'Pages',
    first: 'First page',
    previous: 'Previous',
    previousPage: 'Previous page',
    next: 'Next',
    nextPage: 'Next page',
    newest: 'Newest pets',
    refresh: 'Refresh',
    updated: (age: string) => `Updated ${age}`,
    outOfDate: (age: string) => `Out of date, updated ${age}.`,
    age: (seconds: number) => {
      if (seconds < 2) return 'just now'
      if (seconds < 60) return `${seconds} s ago`
      return seconds < 3_600 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3_600)} h ago`
    },
    empty: 'No pets yet',
    emptyText: 'Add the first one here, or send a request.',
    emptyCurl: 'A request, with your API key in PETSTORE_API_KEY',
    emptyFilter: (status: string) => `No ${status.toLowerCase()} pets`,
    showAll: 'Show all pets',
    pastEnd: 'No more pets',
    pastEndText: 'This page is after the last pet.',
    toFirst: 'Go to the first page',
    notLoaded: 'The pets could not be loaded',
  },

  pet: {
    labels: { id: 'Id', name: 'Name', categoryId: 'Category', status: 'Status' } satisfies Record<keyof Pet, string>,
    statuses: { available: 'Available', pending: 'Pending', sold: 'Sold' } satisfies Record<PetStatus, string>,
    heading: (id: bigint) => `Pet ${id}`,
    spaces: (start: number, end: number) => {
      const spaces = (count: number) => (count === 1 ? '1 space' : `${count} spaces`)
      const parts = [start > 0 && `starts with ${spaces(start)}`, end > 0 && `ends with ${spaces(end)}`]
      return `The name ${joined(' and ', parts)}.`
    },
    copyId: 'Copy id',
    copyLink: 'Copy link',
    copyJson: 'Copy JSON',
    previous: 'Previous pet',
    next: 'Next pet',
    loading: 'Loading the pet',
    missing: (id: bigint) => `No pet has the id ${id}`,
    missingText: 'It may never have existed, or it was deleted.',
    notLoaded: 'The pet could not be loaded',
  },

  add: {
    title: 'Add pet',
    description: (integer: unknown, isOptional: boolean) =>
      joined(' ', [integer !== undefined && `An integer, such as ${integer}.`, isOptional && 'Optional.']),
    submit: 'Add pet',
    adding: 'Adding…',
    retry: 'Try again',
    another: 'Add another',
    added: (name: string, id: bigint) => `${name} was added with the id ${id}.`,
    uncertain: 'The pet may not have been added',
    uncertainText: 'Try again: the pet is added only once.',
    notAdded: 'The pet was not added',
    missing: (label: string, isChoice: boolean) => `${isChoice ? 'Choose' : 'Enter'} ${a(label)}.`,
    expected: (expectation: string) => `Expected ${expectation}.`,
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
      nextPet: 'Next pet',
      previousPet: 'Previous pet',
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
    calls: {
      list: 'This page',
      get: 'By id (deprecated)',
      find: 'From the list',
      create: 'New pet',
    },
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
    code: { title: 'pets.ts', copy: 'Copy the code' },
    json: { title: 'JSON', copy: 'Copy the JSON' },
    selected: 'Selected: press Ctrl+C',
  },

  notLoaded: {
    text: 'This part of the console could not be loaded: the service cannot be reached, or it was updated. Reload the page.',
    reload: 'Reload',
  },

  bulk: {
    open: 'Add many',
    title: 'Add many pets',
    source: 'Paste CSV, TSV or JSON',
    sourceHint: (columns: string[], optional: string[]) =>
      joined(' ', [
        `One pet per row: ${listOf(columns)}.`,
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
    summary: (valid: number, invalid: number) =>
      joined(', ', [
        `${pets(valid)} can be added`,
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
    page: (first: number, last: number, count: number) => `${number(first)}–${number(last)} of ${number(count)}`,
    add: (count: number) => `Add ${pets(count)}`,
    adding: 'Adding…',
    resume: (count: number) => `Add the other ${number(count)}`,
    finished: 'View pets',
    stop: 'Stop',
    progress: 'Rows that are finished',
    progressOf: (done: number, total: number) => `${number(done)} of ${number(total)}`,
    rate: (perSecond: number) => `${number(perSecond)} per second`,
    remaining: (seconds: number) => `${duration(seconds)} left`,
    stopBeforeClosing: 'Pets are being added. Stop that before you close this panel.',
    results: (added: number, existed: number, failed: number) =>
      joined(', ', [
        `${pets(added)} ${was(added)} added`,
        existed > 0 && `${number(existed)} ${was(existed)} there already`,
        failed > 0 && `${number(failed)} could not be added`,
      ]),
    stopped: (left: number) => `${rows(left)} ${was(left)} not confirmed. Continuing adds no pet twice.`,
    repeatable: 'Adding the same rows again within 24 hours adds no pet twice.',
    correctAlone: 'Copy and correct only the rows with a problem, because a changed text counts as new.',
    added: (id: string) => `Added with id ${id}`,
    existed: (id: string) => `There already with id ${id}`,
  },

  export: {
    open: 'Export',
    title: 'Export pets',
    content: (part: string | undefined, total: { count: number; isExact: boolean } | undefined) => {
      const kind = part ? `${part.toLowerCase()} pets` : 'pets'
      return `Downloads all ${total?.isExact ? `${number(total.count)} ` : ''}${kind} of the store as a file.`
    },
    formats: { csv: 'CSV', json: 'JSON' },
    progress: 'Pets that are exported',
    loaded: (count: number, total: number | undefined) =>
      total === undefined ? `${pets(count)} loaded…` : `${number(count)} of ${pets(total)} loaded…`,
    cancel: 'Cancel',
    done: (count: number) => `${pets(count)} ${was(count)} exported.`,
    nothing: 'There is no pet to export.',
    failed: 'The pets could not be exported',
  },
}

/** Leaves out the parts that are false. */
function joined(separator: string, parts: (string | false)[]): string {
  return parts.filter((part) => part !== false).join(separator)
}

function number(value: number): string {
  return value.toLocaleString('en')
}

function pets(count: number): string {
  return count === 1 ? '1 pet' : `${number(count)} pets`
}

function rows(count: number): string {
  return count === 1 ? '1 row' : `${number(count)} rows`
}

function was(count: number): string {
  return count === 1 ? 'was' : 'were'
}

function a(label: string): string {
  return `${/^[aeiou]/i.test(label) ? 'an' : 'a'} ${label.toLowerCase()}`
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
