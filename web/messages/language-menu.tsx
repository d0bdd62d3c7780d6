import './language-menu.css'
import { hint } from '../components/hint.ts'
import { useLanguage, useMessages } from './provider.tsx'
import { isLanguage, languages } from './texts.ts'

/** The browser's own menu, opened by the code of the language. */
export function LanguageMenu() {
  const { page } = useMessages()
  const [language, choose] = useLanguage()
  return (
    <span className="language-menu">
      <span aria-hidden>{language}</span>
      <select
        aria-label={page.language}
        {...hint(page.language)}
        value={language}
        onChange={({ currentTarget: { value } }) => isLanguage(value) && choose(value)}
      >
        {Object.entries(languages).map(([each, name]) => (
          <option key={each} value={each} lang={each}>
            {name}
          </option>
        ))}
      </select>
    </span>
  )
}
