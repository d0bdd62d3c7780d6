import './selection-bar.css'
import { fileOf } from '../../bulk/write-file.ts'
import { IconButton } from '../../components/buttons.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { keepFocus } from '../../components/focus.ts'
import { IconX } from '../../components/icons.tsx'
import { useList, useResource } from '../page-context.ts'

/** What can be done with the selected items. It covers the head of the table, so nothing moves when it appears. */
export function SelectionBar({ onClose }: { onClose: () => void }) {
  const { resource, texts } = useResource()
  const { selection } = useList()
  const title = texts.list.selected(selection.count)
  return (
    <section ref={keepFocus} className="selection-bar" aria-label={title}>
      <span className="number">{title}</span>
      {(['json', 'csv'] as const).map((format) => (
        <CopyButton
          key={format}
          withText
          label={texts.list.copyAs(format.toUpperCase())}
          value={fileOf(resource, format, selection.items())}
        />
      ))}
      <IconButton label={texts.list.clearSelection} size="xs" onClick={onClose}>
        <IconX />
      </IconButton>
    </section>
  )
}
