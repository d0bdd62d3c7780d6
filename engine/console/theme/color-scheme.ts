import { useSyncExternalStore } from 'react'
import { nameHere, storage } from '../storage.ts'

const colorSchemes = ['auto', 'light', 'dark'] as const
type ColorScheme = (typeof colorSchemes)[number]

const storageKey = 'color-scheme-value'
/** Begins the stored name, as in former releases: users keep their choice. */
const owner = 'mantine'
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()
let chosen: ColorScheme = 'auto'

/** Applies the color scheme that the user chose on this device, in this tab or in another one, or else that of the system. */
export function followColorScheme(): void {
  apply(storage('localStorage', owner).get(storageKey))
  prefersDark.addEventListener('change', () => apply(chosen))
  addEventListener('storage', ({ key, newValue }) => key === nameHere(storageKey, owner) && apply(newValue))
}

export function useColorScheme(): [colorScheme: ColorScheme, choose: (scheme: ColorScheme) => void] {
  return [useSyncExternalStore(subscribe, () => chosen), choose]
}

function choose(scheme: ColorScheme): void {
  storage('localStorage', owner).set(storageKey, scheme)
  apply(scheme)
}

function apply(wanted: string | null | undefined): void {
  chosen = colorSchemes.find((scheme) => scheme === wanted) ?? 'auto'
  const system = prefersDark.matches ? 'dark' : 'light'
  document.documentElement.dataset.colorScheme = chosen === 'auto' ? system : chosen
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
