import { formats } from '../../messages/de.ts'
import { joined } from '../../messages/formats.ts'
import type { Noun } from '../../resource.ts'
import type { PageTexts } from './en.ts'

const { number, counted, countOf } = formats

/** No sentence depends on the gender of the noun. */
export function texts(noun: Noun): PageTexts {
  const { one, many } = noun
  return {
    list: {
      title: (part) => (part ? `${many}: ${part}` : many),
      all: 'Alle',
      count: (count, isExact) => `${number(count)}${isExact ? '' : '+'}`,
      share: (choice, count) => `${choice}: ${count}`,
      goToId: 'Gehe zu ID',
      idInvalid: 'Bitte 1 bis 19 Ziffern eingeben.',
      search: `${many} suchen`,
      searchHint: listOfAny,
      clearSearch: 'Suche löschen',
      searchedFor: (labels, text, isBeginning) =>
        isBeginning ? `${labels[0]} beginnt mit „${text}“` : `${listOfAny(labels)} ${text}`,
      justAdded: 'Gerade hinzugefügt',
      added: (count) => `${number(count)} hinzugefügt`,
      showNewest: 'Neueste anzeigen',
      dismiss: 'Ausblenden',
      loading: 'Wird geladen…',
      range: (first, last) => `${number(first)}–${number(last)}`,
      rangeOf: (range, total) => `${range} von ${total}`,
      followed: (range) => `${range}, weitere folgen`,
      after: (items, id, order) => {
        const count = countOf(noun, items)
        return id === undefined ? count : `${count} ${order ? 'vor' : 'nach'} ID ${id}`
      },
      none: `Keine ${many}`,
      pages: 'Seiten',
      first: 'Erste Seite',
      previous: 'Zurück',
      previousPage: 'Vorige Seite',
      next: 'Weiter',
      nextPage: 'Nächste Seite',
      order: 'Reihenfolge',
      newestFirst: 'Neueste zuerst',
      oldestFirst: 'Älteste zuerst',
      refresh: 'Aktualisieren',
      updated: (age) => `Stand: ${age}`,
      outOfDate: (age) => `Veraltet, Stand: ${age}.`,
      age: (seconds) => {
        if (seconds < 2) return 'jetzt'
        if (seconds < 60) return `vor ${seconds} s`
        return seconds < 3_600 ? `vor ${Math.floor(seconds / 60)} min` : `vor ${Math.floor(seconds / 3_600)} h`
      },
      empty: `Noch keine ${many}`,
      emptyText: 'Der erste Eintrag lässt sich hier oder mit einer Anfrage hinzufügen.',
      emptyCurl: 'Eine Anfrage, mit dem API-Schlüssel in PETSTORE_API_KEY',
      emptyFilter: (part) => (part ? `Keine ${many}: ${part}` : `Keine ${many} gefunden`),
      showAll: `Alle ${many} anzeigen`,
      pastEnd: `Keine weiteren ${many}`,
      pastEndText: 'Diese Seite liegt hinter dem letzten Eintrag.',
      toFirst: 'Zur ersten Seite',
      notLoaded: `${many} konnten nicht geladen werden`,
      pageSize: `${many} pro Seite`,
      perPage: (size) => `${size} / Seite`,
      changed: (items) =>
        counted(items, { one: 'Eintrag ist neu oder geändert.', other: 'Einträge sind neu oder geändert.' }),
      select: (title) => `${title} auswählen`,
      selectPage: 'Alle dieser Seite auswählen',
      selected: (items) => `${number(items)} ausgewählt`,
      copyAs: (format) => `Als ${format} kopieren`,
      copiedAs: (format) => `Als ${format} kopiert`,
      clearSelection: 'Auswahl aufheben',
    },

    item: {
      heading: (id) => `${one} ${id}`,
      spaces: (label, start, end) => {
        const parts = [start > 0 && `${start} am Anfang`, end > 0 && `${end} am Ende`]
        return `${label}: Leerzeichen, ${joined(' und ', parts)}.`
      },
      copyId: 'ID kopieren',
      copyLink: 'Link kopieren',
      copyJson: 'JSON kopieren',
      previous: 'Voriger Eintrag',
      next: 'Nächster Eintrag',
      loading: `${one} wird geladen`,
      missing: (id) => `Kein Eintrag hat die ID ${id}`,
      missingText: 'Es gab ihn nie, oder er wurde gelöscht.',
      notLoaded: `${one} konnte nicht geladen werden`,
    },

    add: {
      title: `${one} hinzufügen`,
      description: (integer, isOptional) =>
        joined(' ', [
          integer !== undefined && `Eine ganze Zahl, zum Beispiel ${integer}.`,
          isOptional && 'Freiwillig.',
        ]),
      adding: 'Wird hinzugefügt…',
      retry: 'Erneut versuchen',
      another: 'Noch einen hinzufügen',
      added: (title, id) => `${title} wurde mit der ID ${id} hinzugefügt.`,
      uncertain: `${one} wurde vielleicht nicht hinzugefügt`,
      uncertainText: 'Ein neuer Versuch fügt den Eintrag nur einmal hinzu.',
      notAdded: `${one} wurde nicht hinzugefügt`,
      showForm: 'Formular zeigen',
    },

    palette: {
      title: `${many} und Befehle finden`,
      placeholder: 'ID, Name oder Befehl',
      filter: (label: string, choice: string) => `${label}: ${choice}`,
      search: (text) => `Nach „${text}“ suchen`,
      curl: 'Anfrage als curl kopieren',
      copySelection: (format) => `Auswahl als ${format} kopieren`,
      pageSize: (size) => `Seitengröße: ${size}`,
      log: 'Protokoll: Anfragen dieses Tabs',
      groups: { actions: 'Aktionen', view: 'Ansicht', console: 'Konsole' },
      keys: { move: 'Wählen', run: 'Ausführen', close: 'Schließen' },
      copied: 'Kopiert',
      language: (name) => `Sprache: ${name}`,
      nothing: 'Nichts gefunden',
    },

    calls: {
      list: 'Diese Seite',
      get: (isDeprecated) => `Über die ID${isDeprecated ? ' (veraltet)' : ''}`,
      find: 'Aus der Liste',
      create: `Neu: ${one}`,
    },
  }
}

/** Etwa `a, b oder c`. */
function listOfAny(names: string[]): string {
  return new Intl.ListFormat('de', { type: 'disjunction' }).format(names)
}
