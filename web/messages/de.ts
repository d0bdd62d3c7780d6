import type { Messages } from './en.ts'
import { formatsOf, joined } from './formats.ts'

export const formats = formatsOf('de')
const { number, date, time, plural, counted, countOf, listOf, duration } = formats

/** The general texts in German. They do not address the reader with a pronoun. */
export const texts: Messages = {
  page: {
    name: 'Petstore',
    title: (view) => `${view} · Petstore`,
    navigation: 'Hauptnavigation',
    list: ({ many }) => many,
    reference: 'API-Referenz',
    colorScheme: { auto: 'Farben: wie im System', light: 'Farben: hell', dark: 'Farben: dunkel' },
    language: 'Sprache',
    signOut: 'Abmelden',
    signOutEverywhere: 'In allen Tabs abmelden',
    close: 'Schließen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    unknownPath: 'Seite nicht gefunden',
    unknownPathText: (path) => `Unter ${path} gibt es in diesem Dienst nichts.`,
    toList: ({ many }) => `${many} anzeigen`,
  },

  session: {
    title: 'Anmelden',
    apiKey: 'API-Schlüssel',
    showKey: 'Schlüssel anzeigen',
    remember: 'Auf diesem Gerät merken',
    rememberText: 'Bis zum Abmelden. Sonst wird der Schlüssel mit dem Schließen des letzten Tabs vergessen.',
    signIn: 'Anmelden',
    checking: 'Wird geprüft…',
    keyMissing: 'Bitte einen API-Schlüssel eingeben.',
    keyInvalid: 'Dieser Schlüssel ist ungültig.',
    notChecked: 'Der Schlüssel konnte nicht geprüft werden',
    tryLater: 'Bitte gleich noch einmal versuchen.',
    signedOut: 'Abgemeldet',
    signedOutText:
      'Der Dienst akzeptiert den Schlüssel nicht mehr: Er wurde widerrufen oder ist abgelaufen. Bitte mit einem anderen anmelden.',
    whereToGetOne: 'Der erste Start des Dienstes gibt einen Schlüssel aus. Weitere erzeugt der Betreiber:',
    link: 'Dieser Link hat einen anderen Schlüssel',
    linkText:
      'Dieser Tab ist bereits angemeldet. Eine Anmeldung mit dem Schlüssel des Links beendet, was hier gerade läuft. Andere Tabs behalten ihren Schlüssel.',
    staySignedIn: 'Angemeldet bleiben',
  },

  account: {
    open: 'Konto',
    key: 'API-Schlüssel',
    expires: 'Läuft ab',
    expiry: (at) => (at ? date(at) : 'Nie'),
    calls: 'Übrige Aufrufe',
    callsLeft: (left, all, until) => `${number(left)} von ${number(all)} bis ${time(until)}`,
    unlimited: 'Unbegrenzt',
    release: 'Version',
  },

  reference: {
    useKey: 'Schlüssel der Konsole verwenden',
    usesKey: (start) => `Anfragen verwenden den Schlüssel ${start}…`,
    noKey: 'Kein Tab der Konsole ist angemeldet.',
  },

  problem: {
    page: 'Auf dieser Seite ist ein Fehler aufgetreten. Bitte neu laden.',
    unexpected: 'Der Dienst hat unerwartet geantwortet.',
    unreachable: 'Der Dienst ist nicht erreichbar.',
    offline: 'Der Dienst ist nicht erreichbar: Dieses Gerät ist offline.',
    rateLimited: 'Zu viele Anfragen.',
    unavailable: 'Der Dienst ist zurzeit nicht verfügbar.',
    codes: {
      unprocessable: 'Eine andere Anfrage hatte denselben Idempotenzschlüssel.',
    },
    retrying: 'Neuer Versuch…',
    retryingIn: (seconds) => `Neuer Versuch in ${duration(seconds)}.`,
    retryNow: 'Jetzt erneut versuchen',
    requestId: 'Anfrage-ID',
    copyRequestId: 'Anfrage-ID kopieren',
  },

  issues: {
    required: (label) => `„${label}“ fehlt.`,
    notText: (label) => `„${label}“ ist kein Text.`,
    length: (label, minimum, maximum) => `„${label}“ braucht ${number(minimum)} bis ${number(maximum)} Zeichen.`,
    unicode: (label) => `„${label}“ enthält ein unvollständiges Zeichen.`,
    control: (label) => `„${label}“ enthält einen Zeilenumbruch, einen Tabulator oder ein anderes Steuerzeichen.`,
    blank: (label) => `„${label}“ besteht nur aus Leerzeichen.`,
    notInteger: (label) => `„${label}“ ist keine ganze Zahl.`,
    inexact: (label) => `„${label}“ ist zu groß, um aus JSON exakt gelesen zu werden. Mit CSV geht es.`,
    notInt64: (label) => `„${label}“ passt nicht in 64 Bit.`,
    notChoice: (label, choices) => `„${label}“ ist keiner der Werte ${choices.join(', ')}.`,
    other: (label, expectation) => `„${label}“ ist ungültig. Erwartet: ${expectation}.`,
  },

  keyboard: {
    title: 'Tastenkürzel',
    actions: ({ one, many }) => ({
      search: 'Suchen, oder zu einer ID gehen',
      palette: `${many} und Befehle finden`,
      add: `${one} hinzufügen`,
      nextItem: 'Nächster Eintrag',
      previousItem: 'Voriger Eintrag',
      selectItem: 'Eintrag auswählen oder abwählen',
      selectNext: 'Auch den nächsten Eintrag auswählen',
      selectPrevious: 'Auch den vorigen Eintrag auswählen',
      nextPage: 'Nächste Seite',
      previousPage: 'Vorige Seite',
      close: 'Seitenleiste schließen, oder Auswahl oder Suche aufheben',
      help: 'Diese Hilfe anzeigen',
    }),
  },

  request: {
    open: 'Anfrage',
    title: 'Anfrage',
    call: 'Aufruf',
    apiKey: 'API-Schlüssel',
    showKey: { text: 'Anzeigen', label: 'API-Schlüssel anzeigen' },
    hideKey: { text: 'Verbergen', label: 'API-Schlüssel verbergen' },
    keyNote: (isShown, variable) =>
      isShown
        ? 'Die Texte unten enthalten den Schlüssel und müssen geheim bleiben.'
        : `Die Texte unten lesen den Schlüssel aus der Umgebungsvariablen ${variable}.`,
    tabs: { curl: 'curl', typed: 'Typisierter Client', generated: 'Generierter Client', response: 'Antwort' },
    curlNote: 'Für eine POSIX-Shell.',
    typedNote:
      'TypeScript für Node 24, mit dem npm-Paket petstore-client. IDs sind vom Typ bigint und behalten jede Ziffer.',
    generatedNote:
      'TypeScript für Node 24, mit dem Client, den Hey API aus dem OpenAPI-Dokument generiert. JSON.parse rundet IDs über 2⁵³, deshalb liest und schreibt der Code sie als Zeichenketten. Jede Ziffer bleibt erhalten.',
    onlyRpc: 'Die REST-API hat keine Suche: Nur die RPC-API und der typisierte Client haben sie.',
    noResponse: 'Es gibt noch keine Antwort.',
    command: { title: 'Befehl', copy: 'Befehl kopieren' },
    setup: { title: 'Einmalige Einrichtung', copy: 'Einrichtung kopieren' },
    code: { copy: 'Code kopieren' },
    json: { title: 'JSON', copy: 'JSON kopieren' },
    selected: 'Markiert: Strg+C drücken',
  },

  log: {
    title: 'Anfragen dieses Tabs',
    note: 'Die letzten 200, die neueste zuerst. Gleiche Abfragen sind eine Zeile. Keine enthält den API-Schlüssel.',
    empty: 'Dieser Tab hat noch keine Anfrage gesendet.',
    showRequest: 'Anfrage anzeigen',
    time: (time) => time.toLocaleTimeString('de'),
    attempt: (attempt) => `Versuch ${number(attempt)}`,
    times: (requests) => `${number(requests)}-mal`,
    outcomes: { pending: 'Läuft', cancelled: 'Abgebrochen', unanswered: 'Keine Antwort' },
    duration: (milliseconds) => `${number(milliseconds)} ms`,
    repeat: 'Wiederholen',
    input: (procedure) => `Eingabe von ${procedure}`,
    copyInput: 'Eingabe kopieren',
    response: { title: 'Antwort', copy: 'Antwort kopieren' },
  },

  notLoaded: {
    text: 'Dieser Teil der Konsole konnte nicht geladen werden: Der Dienst ist nicht erreichbar oder wurde aktualisiert. Bitte die Seite neu laden.',
    reload: 'Neu laden',
  },

  bulk: {
    open: 'Mehrere',
    title: ({ many }) => `Mehrere ${many} hinzufügen`,
    source: 'CSV, TSV oder JSON einfügen',
    sourceHint: (_noun, columns, optional) =>
      joined(' ', [
        `Pro Zeile: ${listOf(columns)}.`,
        optional.length > 0 &&
          `${listOf(optional)} ${plural(optional.length, { one: 'kann', other: 'können' })} fehlen.`,
        'Mit einer Kopfzeile ist die Reihenfolge beliebig.',
      ]),
    chooseFile: 'Datei auswählen',
    file: (name) => `Aus ${name}`,
    dropHint: 'oder hier ablegen',
    startOver: 'Neu beginnen',
    drop: 'Zum Einlesen hier ablegen',
    fileTooLarge: (megabytes) => `Die Datei ist größer als ${number(megabytes)} MB.`,
    fileNotUtf8: 'Die Datei ist kein UTF-8-Text. Beim Speichern hilft das Format „CSV UTF-8“.',
    fileUnreadable: 'Die Datei lässt sich nicht lesen.',
    tooManyRows: (count, max) => `${rows(count)} sind zu viele. Es gehen höchstens ${number(max)} auf einmal.`,
    quotes: (row) => `Ab Zeile ${number(row)} passen die Anführungszeichen nicht zusammen.`,
    notJson: (reason) => `Der Text ist kein gültiges JSON: ${reason}`,
    header: (columns, unknown, repeated, missing) =>
      joined(' ', [
        `Die Spalten sind ${listOf(columns)}. Eine id wird ignoriert.`,
        unknown.length > 0 && `Unbekannt: ${unknown.join(', ')}.`,
        repeated.length > 0 && `Doppelt: ${repeated.join(', ')}.`,
        missing.length > 0 && `Es fehlt: ${missing.join(', ')}.`,
      ]),
    formats: {
      comma: 'CSV mit Kommas',
      semicolon: 'CSV mit Semikolons',
      tab: 'TSV',
      json: 'JSON',
      ndjson: 'JSON, ein Objekt pro Zeile',
    },
    withHeader: 'mit Kopfzeile',
    withoutHeader: 'ohne Kopfzeile',
    summary: (noun, valid, invalid) =>
      joined(', ', [
        `${countOf(noun, valid)} ${can(valid)} hinzugefügt werden`,
        invalid > 0 && `${rows(invalid)} ${plural(invalid, { one: 'hat', other: 'haben' })} einen Fehler`,
      ]),
    skipped: (noun, count) =>
      `${countOf(noun, count)} ${plural(count, { one: 'wurde', other: 'wurden' })} schon hinzugefügt und ${plural(count, { one: 'wird', other: 'werden' })} übersprungen.`,
    unused: (names) =>
      `${plural(names.length, { one: 'Die Spalte', other: 'Die Spalten' })} ${listOf(names)} ${plural(names.length, { one: 'wird', other: 'werden' })} nicht verwendet.`,
    notAnObject: 'Das ist kein JSON-Objekt.',
    unknownFields: (names) => `Unbekannte Felder: ${names.join(', ')}.`,
    cells: (expected, found, surplus) =>
      joined(' ', [
        `Erwartet ${plural(expected, { one: 'wird', other: 'werden' })} ${counted(expected, { one: 'Wert', other: 'Werte' })}, nicht ${number(found)}.`,
        surplus.length > 0 && `Zu viel: ${surplus.join(', ')}`,
      ]),
    table: 'Zeilen',
    row: 'Zeile',
    result: 'Ergebnis',
    cell: (label, row) => `${label}, Zeile ${number(row)}`,
    onlyProblems: (count) => `Nur ${rows(count)} zum Berichtigen`,
    copyProblems: (count) => `${rows(count)} als CSV kopieren`,
    pages: 'Seiten der Zeilen',
    previous: 'Zurück',
    next: 'Weiter',
    page: (first, last, count) => `${number(first)}–${number(last)} von ${number(count)}`,
    add: (noun, count) => `${count === 0 ? noun.many : countOf(noun, count)} hinzufügen`,
    addCorrected: (count) => `${counted(count, { one: 'berichtigte Zeile', other: 'berichtigte Zeilen' })} hinzufügen`,
    adding: 'Wird hinzugefügt…',
    resume: (count) => `Die übrigen ${number(count)} hinzufügen`,
    finished: ({ many }) => `${many} ansehen`,
    stop: 'Anhalten',
    progress: 'Fertige Zeilen',
    progressOf: (done, total) => `${number(done)} von ${number(total)}`,
    rate: (perSecond) => `${number(perSecond)} pro Sekunde`,
    remaining: (seconds) => `noch ${duration(seconds)}`,
    stopBeforeClosing: ({ many }) => `${many} werden gerade hinzugefügt. Vor dem Schließen bitte anhalten.`,
    results: (noun, added, existed, failed) =>
      joined(', ', [
        `${countOf(noun, added)} hinzugefügt`,
        existed > 0 && `${number(existed)} schon vorhanden`,
        failed > 0 && `${number(failed)} nicht hinzugefügt`,
      ]),
    stopped: (_noun, left) =>
      `${rows(left)} ${plural(left, { one: 'ist', other: 'sind' })} nicht bestätigt. Beim Fortsetzen wird nichts doppelt hinzugefügt.`,
    repeatable: () =>
      'Wer dieselben Zeilen innerhalb von 24 Stunden mit demselben API-Schlüssel noch einmal hinzufügt, legt nichts doppelt an.',
    correct: 'Die übrigen Zeilen bitte in der Tabelle berichtigen: Ein geänderter Text gilt als neu.',
    corrected: 'Berichtigt',
    added: (id) => `Hinzugefügt mit der ID ${id}`,
    existed: (id) => `Schon vorhanden mit der ID ${id}`,
    unconfirmed: 'Gesendet, noch nicht bestätigt',
  },

  export: {
    open: 'Export',
    title: ({ many }) => `${many} exportieren`,
    content: (noun, part, search, total) => {
      const items = total === undefined ? `alle ${noun.many}` : `${total === 1 ? '' : 'alle '}${countOf(noun, total)}`
      const source = search === undefined ? 'des Bestands' : `zur Suche „${search}“`
      return `Lädt ${items} ${source} als Datei herunter${part ? `, die den Wert „${part}“ haben` : ''}.`
    },
    formats: { csv: 'CSV', json: 'JSON' },
    progress: ({ many }) => `Exportierte ${many}`,
    loaded: (noun, count, total) =>
      total === undefined ? `${countOf(noun, count)} geladen…` : `${number(count)} von ${number(total)} geladen…`,
    cancel: 'Abbrechen',
    done: (noun, count) => `${countOf(noun, count)} exportiert.`,
    nothing: () => 'Es gibt nichts zu exportieren.',
    failed: ({ many }) => `${many} konnten nicht exportiert werden`,
  },
}

function rows(count: number): string {
  return counted(count, { one: 'Zeile', other: 'Zeilen' })
}

function can(count: number): string {
  return plural(count, { one: 'kann', other: 'können' })
}
