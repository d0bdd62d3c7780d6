import { type ComponentProps, type ComponentType, lazy, Suspense, useState } from 'react'
import { Button } from './buttons.tsx'

/** What loads the parts of the console that are shown later, in the order of their definitions. */
const parts: (() => Promise<unknown>)[] = []

/** Loads all parts, one after the other. They are then shown at once, also if the service is away by then. */
export async function preload(): Promise<void> {
  for (const load of parts) await load().catch(() => {})
}

/**
 * A component whose code is loaded when it is first shown, or before that by `preload`. Loaded code is rendered at once:
 * React's `lazy` would first show the fallback, for up to 300 ms.
 */
export function loadLater<Props extends object>(importComponent: () => Promise<ComponentType<Props>>) {
  type Loaded = ComponentType<Props & { onClose?: () => void }>
  let loading: Promise<Loaded> | undefined
  let loaded: Loaded | undefined
  /** Not again after a failure: browsers remember it for a module, and Vite for a style sheet, until the page is reloaded. */
  async function load(): Promise<Loaded> {
    loading ??= importComponent()
    loaded = await loading
    return loaded
  }
  parts.push(load)
  const Lazy = lazy(async () => ({ default: await load().catch(() => NotLoaded) }))

  return function LoadedLater(props: ComponentProps<Loaded>) {
    // Stays the same while it is shown: another component would lose its state.
    const [Component] = useState<Loaded>(() => loaded ?? Lazy)
    return (
      <Suspense>
        <Component {...props} />
      </Suspense>
    )
  }
}

/** For a panel in a window that is too narrow to have it beside the list. */
export const PanelSheet = loadLater(async () => (await import('./sheet.tsx')).Sheet)

/** Replaces a panel whose code could not be loaded. */
function NotLoaded({ onClose }: { onClose?: () => void }) {
  return (
    <div className="not-loaded">
      <p role="alert">
        This part of the console could not be loaded: the service cannot be reached, or it was updated. Reload the page.
      </p>
      <Button variant="default" size="xs" onClick={() => location.reload()}>
        Reload
      </Button>
      {onClose && (
        <Button variant="default" size="xs" onClick={onClose}>
          Close
        </Button>
      )}
    </div>
  )
}
