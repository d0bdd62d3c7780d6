import '@mantine/core/styles/Tooltip.layer.css'
import '@mantine/core/styles/Kbd.layer.css'
import { Kbd, Tooltip } from '@mantine/core'
import { keyName } from '../keyboard.ts'

/** The tooltip of an element with the attributes of `hint`. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function HintTooltip({ target }: { target: Element }) {
  const [key] = target.getAttribute('aria-keyshortcuts')?.split(' ') ?? []
  const label = (
    <>
      {target.getAttribute('data-hint')}
      {key && <Kbd>{keyName(key)}</Kbd>}
    </>
  )
  // Inside of a landmark, like everything on the page.
  const landmark = target.closest<HTMLElement>('main, header') ?? document.body
  return (
    target instanceof HTMLElement && <Tooltip opened target={target} label={label} portalProps={{ target: landmark }} />
  )
}
