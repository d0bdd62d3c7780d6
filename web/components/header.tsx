import { Anchor, Button, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'

interface HeaderProps {
  onSignOut?: () => void
}

export function Header({ onSignOut }: HeaderProps) {
  return (
    <header className="header">
      <h1>
        <img src="/favicon.svg" alt="" width="28" height="28" /> Petstore
      </h1>
      <nav>
        <Anchor href="/docs/" size="sm">
          API reference
        </Anchor>
      </nav>
      <ColorScheme />
      {onSignOut && (
        <Button variant="default" size="sm" onClick={onSignOut}>
          Sign out
        </Button>
      )}
    </header>
  )
}

function ColorScheme() {
  // Without this option Mantine adds a style element, which the content security policy forbids.
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  const other = useComputedColorScheme('light') === 'light' ? 'dark' : 'light'
  return (
    <Button variant="default" size="sm" onClick={() => setColorScheme(other)} aria-label={`Use ${other} colors`}>
      {other === 'dark' ? 'Dark' : 'Light'}
    </Button>
  )
}
