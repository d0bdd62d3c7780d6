import { ActionIcon, createTheme, Input } from '@mantine/core'

/** The defaults of Mantine's components. Their colors and sizes are in tokens.css. */
export const theme = createTheme({
  primaryColor: 'indigo',
  respectReducedMotion: true,
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
    InputError: Input.Error.extend({ defaultProps: { role: 'alert' } }),
  },
})
