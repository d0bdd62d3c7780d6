import { useSyncExternalStore } from 'react'
import { storage } from '../storage.ts'

const colorSchemes = ['auto', 'light', 'dark'] as const
type ColorScheme = (typeof colorSchemes)[number]

/** The key and the attribute are Mantine's, whose style sheets use the attribute. */
const storageKey = 'mantine-color-scheme-value'
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()
let chosen: ColorScheme = 'auto'

/** Applies the color scheme that the user chose on this device, in this tab or in another one, or else that of the system. */
export function followColorScheme(): void {
  apply(storage('localStorage')?.getItem(storageKey))
  prefersDark.addEventListener('change', () => apply(chosen))
  addEventListener('storage', ({ key, newValue }) => key === storageKey && apply(newValue))
}

export function useColorScheme(): [colorScheme: ColorScheme, choose: (scheme: ColorScheme) => void] {
  return [useSyncExternalStore(subscribe, () => chosen), choose]
}

function choose(scheme: ColorScheme): void {
  storage('localStorage')?.setItem(storageKey, scheme)
  apply(scheme)
}

function apply(wanted: string | null | undefined): void {
  chosen = colorSchemes.find((scheme) => scheme === wanted) ?? 'auto'
  const system = prefersDark.matches ? 'dark' : 'light'
  document.documentElement.dataset.mantineColorScheme = chosen === 'auto' ? system : chosen
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
