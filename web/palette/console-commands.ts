import {
  IconActivity,
  IconBook,
  IconDeviceDesktop,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconSun,
  IconUser,
} from '../components/icons.tsx'
import { openAccountMenu } from '../header/account-menu.tsx'
import { navigateBelowDialogs } from '../history.ts'
import { useOpenLog } from '../requests/log-link.tsx'
import { usePage } from '../resource/use-page.ts'
import type { SignOutScope } from '../session.ts'
import { messages } from '../texts/messages.ts'
import { colorSchemes, useColorScheme } from '../theme/color-scheme.ts'
import type { Command } from './command.ts'

const schemeIcons = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon }

/** The commands that every page has. */
export function useConsoleCommands(onSignOut: (scope: SignOutScope) => void): Command[] {
  const { texts, open } = usePage()
  const { account, keyboard, page } = messages
  const [colorScheme, chooseColorScheme] = useColorScheme()
  const openLog = useOpenLog()
  const commands: (Omit<Command, 'group'> | undefined)[] = [
    openLog && { name: 'log', icon: IconActivity, label: texts.palette.log, run: () => openLog() },
    { name: 'account', icon: IconUser, label: account.open, run: openAccountMenu },
    {
      name: 'reference',
      icon: IconBook,
      label: page.reference,
      run: () => navigateBelowDialogs(() => location.assign('./docs/')),
    },
    ...colorSchemes
      .filter((scheme) => scheme !== colorScheme)
      .map((scheme) => ({
        name: `colors-${scheme}`,
        icon: schemeIcons[scheme],
        label: page.colorScheme[scheme],
        run: () => chooseColorScheme(scheme),
      })),
    {
      name: 'help',
      icon: IconKeyboard,
      label: keyboard.title,
      shortcut: 'help',
      run: () => open({ kind: 'help' }),
    },
    { name: 'sign-out', icon: IconLogout, label: page.signOut, run: () => onSignOut('tab') },
    { name: 'sign-out-everywhere', icon: IconLogout, label: page.signOutEverywhere, run: () => onSignOut('all-tabs') },
  ]
  return commands.filter((each) => each !== undefined).map((each) => ({ ...each, group: 'console' }))
}
