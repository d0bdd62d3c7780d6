/** The languages of the console, each by its own name. */
export const languages = { en: 'English', de: 'Deutsch' }

export type Language = keyof typeof languages

export function isLanguage(text: unknown): text is Language {
  return typeof text === 'string' && Object.hasOwn(languages, text)
}

/** The texts of one part of the console in every language. */
export interface Texts<T> {
  en: T
  /** The texts, or a promise until they are loaded. */
  in(language: Language): T | Promise<T>
}

/**
 * Texts whose other languages are loaded when they are needed. If that fails, the texts are English until the page is
 * reloaded.
 */
export function textsOf<T>(
  en: T,
  others: Record<Exclude<Language, 'en'>, () => Promise<{ texts: NoInfer<T> }>>,
): Texts<T> {
  const loaded: Partial<Record<Language, Promise<T>>> = {}
  return {
    en,
    in(language) {
      if (language === 'en') return en
      // Always the same promise: React reads its result without suspending again.
      loaded[language] ??= others[language]().then(
        ({ texts }) => texts,
        () => en,
      )
      return loaded[language]
    },
  }
}
