import '@mantine/core/styles/Alert.layer.css'
import '@mantine/core/styles/Progress.layer.css'
import './bulk.css'
import { Alert, Button, Progress } from '@mantine/core'
import { useState } from 'react'
import { SteadyButton } from '../components/buttons.tsx'
import { PauseMessage } from '../components/failure.tsx'
import { keepFocus } from '../components/focus.ts'
import { Sheet } from '../components/sheet.tsx'
import { messages } from '../messages/index.ts'
import { usePetstore } from '../petstore.ts'
import { problemOf } from '../problem.ts'
import type { Count, Noun, Resource } from '../resource.ts'
import { type ExportFormat, exportItems } from './export-items.ts'
import type { Pause } from './retry-while-away.ts'
import { saveFile } from './save-file.ts'
import { useJob } from './use-job.ts'

const texts = messages.export

interface ExportSheetProps {
  onClose: () => void
  resource: Resource
  /** Further input of the list. Empty for all items. */
  filter: Readonly<Record<string, string>>
  /** The name of the filter for the user. Undefined if all items are exported. */
  part: string | undefined
  /** The number of items to export. Undefined until they are counted. */
  total: Count | undefined
}

/** Downloads the items of a list as a file. Closing the sheet cancels the export. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function ExportSheet({ onClose, resource, filter, part, total }: ExportSheetProps) {
  const { noun } = resource
  const procedures = resource.procedures(usePetstore())
  const [items, setItems] = useState(0)
  const { start, stop, reset, status, error, pause } = useJob(async (options, format: ExportFormat) => {
    setItems(0)
    const file = await exportItems(resource, procedures, { ...options, format, filter, onProgress: setItems })
    saveFile(`${[resource.many, ...Object.values(filter)].join('-')}.${format}`, file)
  })
  const isLoading = status === 'pending'

  function cancel() {
    stop()
    reset()
  }

  const isEmpty = total?.isExact === true && total.count === 0
  return (
    <Sheet title={texts.title(noun)} onClose={onClose}>
      <div className="export">
        <p>{isEmpty ? texts.nothing(noun) : texts.content(noun, part, total)}</p>
        <div className="export-formats">
          {(['csv', 'json'] as const).map((format) => (
            <SteadyButton
              key={format}
              variant="default"
              isDisabled={isLoading || isEmpty}
              onClick={() => start(format)}
            >
              {texts.formats[format]}
            </SteadyButton>
          ))}
        </div>
        {isLoading && <ExportProgress noun={noun} items={items} pause={pause} total={total} onCancel={cancel} />}
        <p role="status">{status === 'success' && texts.done(noun, items)}</p>
        {error && (
          <Alert color="red" title={texts.failed(noun)} role="alert">
            {problemOf(error).message}
          </Alert>
        )}
      </div>
    </Sheet>
  )
}

interface ExportProgressProps {
  noun: Noun
  items: number
  pause: Pause | undefined
  total: Count | undefined
  onCancel: () => void
}

function ExportProgress({ noun, items, pause, total, onCancel }: ExportProgressProps) {
  return (
    <div ref={keepFocus}>
      {total?.isExact && total.count > 0 && (
        // More items may have been added since they were counted.
        <Progress
          value={Math.min(100, Math.floor((items / total.count) * 100))}
          size="sm"
          aria-label={texts.progress(noun)}
          className="bulk-bar"
        />
      )}
      <p className="bulk-numbers">
        <span>{texts.loaded(noun, items, total?.isExact ? total.count : undefined)}</span>
        <Button variant="default" size="compact-sm" onClick={onCancel}>
          {texts.cancel}
        </Button>
      </p>
      {pause && <PauseMessage pause={pause} />}
    </div>
  )
}
