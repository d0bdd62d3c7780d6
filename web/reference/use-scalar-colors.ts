import { useLayoutEffect } from 'react'
import { storage } from '../storage.ts'
import { useColorScheme, useShownColorScheme } from '../theme/color-scheme.ts'

/** Gives Scalar the color scheme of the console. Scalar reads its own name when it starts, and sets the same classes. */
export function useScalarColors(): void {
  const [colorScheme] = useColorScheme()
  const shown = useShownColorScheme()
  useLayoutEffect(() => {
    for (const scheme of ['light', 'dark']) document.body.classList.toggle(`${scheme}-mode`, scheme === shown)
    storage('localStorage')?.setItem('colorMode', colorScheme === 'auto' ? 'system' : colorScheme)
  }, [colorScheme, shown])
}
