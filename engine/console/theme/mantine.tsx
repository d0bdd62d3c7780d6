import '@mantine/core/styles/global.layer.css'
import '@mantine/core/styles/UnstyledButton.layer.css'
import './mantine.css'
import { createTheme, Input, MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'

const theme = createTheme({
  primaryColor: 'indigo',
  respectReducedMotion: true,
  components: { InputError: Input.Error.extend({ defaultProps: { role: 'alert' } }) },
})

/** The context that Mantine's components need. Only what is loaded later uses it: it would be a fifth of the first load. */
export function MantineContext({ children }: { children: ReactNode }) {
  return (
    // The style sheets contain what the provider would add as style elements, which the content security policy forbids.
    // Without a root element, the provider leaves the color scheme to the console.
    <MantineProvider theme={theme} getRootElement={noElement} withCssVariables={false} withGlobalClasses={false}>
      {children}
    </MantineProvider>
  )
}

function noElement(): undefined {}
