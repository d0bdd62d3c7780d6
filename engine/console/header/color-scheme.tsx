import { Button, IconButton } from '../components/buttons.tsx'
import { IconDeviceDesktop, IconMoon, IconSun } from '../components/icons.tsx'
import { useColorScheme } from '../theme/color-scheme.ts'

const schemes = { auto: IconDeviceDesktop, light: IconSun, dark: IconMoon }
const labels = { auto: 'Colors: system', light: 'Colors: light', dark: 'Colors: dark' }
const nextScheme = { auto: 'light', light: 'dark', dark: 'auto' } as const

/** A button that shows the color scheme, and changes it to the next one. */
export function ColorScheme({ withText = false }: { withText?: boolean }) {
  const [colorScheme, choose] = useColorScheme()
  const label = labels[colorScheme]
  const Icon = schemes[colorScheme]
  const change = () => choose(nextScheme[colorScheme])
  return withText ? (
    <Button variant="gray" icon={<Icon />} onClick={change}>
      {label}
    </Button>
  ) : (
    <IconButton label={label} onClick={change}>
      <Icon />
    </IconButton>
  )
}
