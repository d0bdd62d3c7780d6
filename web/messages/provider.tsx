import { useWindowEvent } from '@mantine/hooks'
import { createContext, type ReactNode, startTransition, use, useContext, useEffect, useState } from 'react'
import { storage } from '../storage.ts'
import { texts as en, type Messages } from './en.ts'
import { isLanguage, type Language, type Texts, textsOf } from './texts.ts'

const general = textsOf(en, { de: () => import('./de.ts') })

type LanguageChoice = [language: Language, choose: (language: Language) => void]

/** In the local storage, if the user has chosen a language. */
const storageKey = 'petstore-language'

const LanguageContext = createContext<LanguageChoice>(['en', () => {}])

/** Holds the language of the page. Changing it keeps the state of all components. */
export function MessagesProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(preferredLanguage)
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])

  // The user chose it in another tab.
  useWindowEvent('storage', ({ key }) => key === storageKey && show(preferredLanguage()))

  function show(chosen: Language) {
    // The page stays as it is until the texts are loaded.
    startTransition(() => setLanguage(chosen))
  }

  function choose(chosen: Language) {
    storage('localStorage')?.setItem(storageKey, chosen)
    show(chosen)
  }

  return <LanguageContext value={[language, choose]}>{children}</LanguageContext>
}

/** The language that the user chose on this device, or else the first one of the browser that the console has. */
function preferredLanguage(): Language {
  const tags = [storage('localStorage')?.getItem(storageKey) ?? '', ...navigator.languages]
  return tags.map((tag) => tag.split('-')[0]).find(isLanguage) ?? 'en'
}

export function useLanguage(): LanguageChoice {
  return useContext(LanguageContext)
}

/** The texts in the language of the page. Suspends until they are loaded. */
export function useTexts<T>(texts: Texts<T>): T {
  const [language] = useLanguage()
  const found = texts.in(language)
  return found instanceof Promise ? use(found) : found
}

/** The general texts in the language of the page. */
export function useMessages(): Messages {
  return useTexts(general)
}
