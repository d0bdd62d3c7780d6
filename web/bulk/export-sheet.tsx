import '@mantine/core/styles/Alert.layer.css'
import '@mantine/core/styles/Progress.layer.css'
import './bulk.css'
import { Alert, Button, Progress } from '@mantine/core'
import type { PetStatus } from '../../client/index.ts'
import { keepFocus } from '../components/focus.ts'
import { Sheet } from '../components/sheet.tsx'
import { SteadyButton } from '../components/steady-button.tsx'
import { messages } from '../messages/index.ts'
import { statusNames } from '../pets/pet-status.ts'
import type { Count } from '../pets/queries.ts'
import { PauseMessage } from './pause-message.tsx'
import { type Export, useExport } from './use-export.ts'

const texts = messages.export

interface ExportSheetProps {
  onClose: () => void
  /** Exports only pets of this status. */
  status: PetStatus | undefined
  /** The number of pets to export. Undefined until they are counted. */
  total: Count | undefined
}

/** Downloads the pets of the list as a file. Closing the sheet cancels the export. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function ExportSheet({ onClose, ...props }: ExportSheetProps) {
  return (
    <Sheet title={texts.title} onClose={onClose}>
      <ExportForm {...props} />
    </Sheet>
  )
}

function ExportForm({ status, total }: Pick<ExportSheetProps, 'status' | 'total'>) {
  const running = useExport(status)
  const { state, pets, start } = running
  const isLoading = state.kind === 'loading'
  const isEmpty = total?.isExact === true && total.count === 0
  return (
    <div className="export">
      <p>{isEmpty ? texts.nothing : texts.content(status && statusNames[status], total)}</p>
      <div className="export-formats">
        {(['csv', 'json'] as const).map((format) => (
          <SteadyButton
            key={format}
            variant="default"
            isDisabled={isLoading || isEmpty}
            onClick={() => void start(format)}
          >
            {texts.formats[format]}
          </SteadyButton>
        ))}
      </div>
      {isLoading && <ExportProgress running={running} total={total} />}
      <p role="status">{state.kind === 'saved' && texts.done(pets)}</p>
      {state.kind === 'failed' && (
        <Alert color="red" title={texts.failed} role="alert">
          {state.reason}
        </Alert>
      )}
    </div>
  )
}

function ExportProgress({ running: { pets, pause, cancel }, total }: { running: Export; total: Count | undefined }) {
  return (
    <div ref={keepFocus}>
      {total?.isExact && total.count > 0 && (
        // More pets may have been added since they were counted.
        <Progress
          value={Math.min(100, Math.floor((pets / total.count) * 100))}
          size="sm"
          aria-label={texts.progress}
          className="bulk-bar"
        />
      )}
      <p className="bulk-numbers">
        <span>{texts.loaded(pets, total?.isExact ? total.count : undefined)}</span>
        <Button variant="default" size="compact-sm" onClick={cancel}>
          {texts.cancel}
        </Button>
      </p>
      {pause && <PauseMessage pause={pause} />}
    </div>
  )
}
