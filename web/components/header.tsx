import './header.css'
import { useMantineColorScheme } from '@mantine/core'
import { messages } from '../messages/index.ts'
import { IconButton } from './buttons.tsx'
import { IconDeviceDesktop, IconKeyboard, IconLogout, IconMoon, IconSun } from './icons.tsx'

interface HeaderProps {
  onHelp?: () => void
  onSignOut?: () => void
}

export function Header({ onHelp, onSignOut }: HeaderProps) {
  return (
    <header className="header">
      <a className="brand" href="./" aria-label={messages.page.name}>
        <img src="./favicon.svg" alt="" width="24" height="24" />
        <span>{messages.page.name}</span>
      </a>
      <nav aria-label={messages.page.navigation}>
        {onSignOut && (
          <a href="./" aria-current="page">
            {messages.page.list}
          </a>
        )}
        <a href="./docs/">{messages.page.reference}</a>
      </nav>
      <div className="header-actions">
        <ColorScheme />
        {onHelp && (
          <IconButton label={messages.keyboard.title} shortcut="help" onClick={onHelp}>
            <IconKeyboard />
          </IconButton>
        )}
        {onSignOut && (
          <IconButton label={messages.page.signOut} onClick={onSignOut}>
            <IconLogout />
          </IconButton>
        )}
      </div>
    </header>
  )
}

const schemes = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon }
const nextScheme = { auto: 'light', light: 'dark', dark: 'auto' } as const

function ColorScheme() {
  // Without this option Mantine adds a style element, which the content security policy forbids.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const Icon = schemes[colorScheme]
  return (
    <IconButton label={messages.page.colorScheme[colorScheme]} onClick={() => setColorScheme(nextScheme[colorScheme])}>
      <Icon />
    </IconButton>
  )
}
