import '@mantine/core/styles.css'
import './console.css'
import { createTheme, Input, MantineProvider } from '@mantine/core'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'

const theme = createTheme({
  components: { InputError: Input.Error.extend({ defaultProps: { role: 'alert' } }) },
})

const root = document.querySelector('#root')
if (!root) throw new Error('The page has no element for the console.')

createRoot(root).render(
  <StrictMode>
    {/* What the provider would write into style elements, which the page's policy forbids, is in the style sheets. */}
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <App />
    </MantineProvider>
  </StrictMode>,
)
