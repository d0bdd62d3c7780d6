import '@mantine/core/styles/Tooltip.layer.css'
import { Tooltip } from '@mantine/core'
import { keyName } from '../keyboard.ts'
import { MantineContext } from '../theme/mantine.tsx'

/** The tooltip of an element with the attributes of `hint`. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function HintTooltip({ target }: { target: Element }) {
  const [key] = target.getAttribute('aria-keyshortcuts')?.split(' ') ?? []
  const label = (
    <>
      {target.getAttribute('data-hint')}
      {key && <kbd>{keyName(key)}</kbd>}
    </>
  )
  // Inside of a landmark, like everything on the page.
  const landmark = target.closest<HTMLElement>('main, header') ?? document.body
  return (
    target instanceof HTMLElement && (
      <MantineContext>
        <Tooltip opened target={target} label={label} portalProps={{ target: landmark }} />
      </MantineContext>
    )
  )
}
