import './selection-bar.css'
import { useClipboard } from '@mantine/hooks'
import { useState } from 'react'
import { fileOf } from '../../bulk/write-file.ts'
import { Button, IconButton } from '../../components/buttons.tsx'
import { keepFocus } from '../../components/focus.ts'
import { IconCheck, IconCopy, IconX } from '../../components/icons.tsx'
import type { Item, Resource } from '../../resource.ts'
import { usePage } from '../use-page.ts'

/** Writes the selected items as text. */
const formats = {
  JSON: (resource: Resource, items: Item[]) => fileOf(resource, 'json', items).text(),
  CSV: (resource: Resource, items: Item[]) => fileOf(resource, 'csv', items).text(),
}

/** What can be done with the selected items. It covers the head of the table, so nothing moves when it appears. */
export function SelectionBar({ onClose }: { onClose: () => void }) {
  const { resource, texts, selection } = usePage()
  const { copied, copy } = useClipboard()
  const [last, setLast] = useState<string>()
  const title = texts.list.selected(selection.count)
  return (
    <section ref={keepFocus} className="selection-bar" aria-label={title}>
      <span className="number">{title}</span>
      {/* Browsers copy only on secure pages. */}
      {isSecureContext &&
        Object.entries(formats).map(([format, write]) => (
          <Button
            key={format}
            variant="default"
            size="xs"
            icon={copied && format === last ? <IconCheck /> : <IconCopy />}
            data-copied={(copied && format === last) || undefined}
            aria-label={texts.list.copyAs(format)}
            onClick={() => {
              copy(write(resource, selection.items()))
              setLast(format)
            }}
          >
            {format}
          </Button>
        ))}
      <span className="visually-hidden" role="status">
        {copied && last && texts.list.copiedAs(last)}
      </span>
      <IconButton label={texts.list.clearSelection} size="xs" onClick={onClose}>
        <IconX />
      </IconButton>
    </section>
  )
}
