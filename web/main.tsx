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
if (!root) throw new Error('The page has no element with the id root.')

createRoot(root).render(
  <StrictMode>
    {/* The style sheets contain what the provider would add as style elements, which the content security policy forbids. */}
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <App />
    </MantineProvider>
  </StrictMode>,
)
