import './bulk.css'
import { useState } from 'react'
import { useClient } from '../client.ts'
import { Button } from '../components/buttons.tsx'
import { keepFocus } from '../components/focus.ts'
import { IconDownload } from '../components/icons.tsx'
import { Sheet } from '../components/sheet.tsx'
import { Notice } from '../form/notice.tsx'
import { capitalized, countOf, day, joined, number, was } from '../formats.ts'
import { problemOf } from '../problem.ts'
import { nounOf } from '../resource/item/edit-text.tsx'
import { useList, useResource, useTotal } from '../resource/page-context.ts'
import { partOf } from '../resource/queries.ts'
import { exportItems, type FileFormat, fileOf, saveFile } from './export-items.ts'
import { PauseMessage, useJob } from './use-job.tsx'

/** Downloads the items of a list as a file. Closing the sheet cancels the export. */
export function ExportSheet({ onClose }: { onClose: () => void }) {
  const { resource } = useResource()
  const { filter, search } = useList().view
  const total = useTotal()
  const procedures = resource.procedures(useClient())
  const [items, setItems] = useState(0)
  const { start, stop, reset, status, error, pause } = useJob(async (options, format: FileFormat) => {
    setItems(0)
    const loaded = await exportItems(resource, procedures, { ...options, filter, search, onProgress: setItems })
    // What the user searches for may not be a valid name of a file.
    const found = search !== undefined && 'found'
    const name = joined('-', [resource.many, partOf(resource, filter) ?? false, found, day(new Date())])
    saveFile(name.toLowerCase().replaceAll(/[ ,]+/g, '-'), format, fileOf(resource, format, loaded))
  })
  const isLoading = status === 'pending'

  function cancel() {
    stop()
    reset()
  }

  const count = total?.isExact ? total.count : undefined
  const isEmpty = count === 0
  const loaded = count === undefined ? countOf(resource, items) : `${number(items)} of ${countOf(resource, count)}`
  const noun = nounOf(resource, filter)
  const all = count === 1 ? '' : 'all '
  const listed = all + (count === undefined ? noun.many : countOf(noun, count))
  const content = `Downloads ${listed}${search === undefined ? '' : ` found by “${search}”`} as a file.`
  return (
    <Sheet title={`Export ${resource.many}`} onClose={onClose} size="sm" isModal>
      <div className="export">
        <p>{isEmpty ? `There is no ${resource.one} to export.` : content}</p>
        <div className="export-formats">
          {(['csv', 'json'] as const).map((format, index) => (
            <Button
              key={format}
              variant="default"
              icon={<IconDownload />}
              isDisabled={isLoading || isEmpty}
              onClick={() => start(format)}
              data-autofocus={index === 0 || undefined}
            >
              {format.toUpperCase()}
            </Button>
          ))}
        </div>
        {isLoading && (
          <div ref={keepFocus}>
            {count !== undefined && count > 0 && (
              // More items may have been added since they were counted.
              <progress
                className="bulk-bar"
                value={Math.min(items, count)}
                max={count}
                aria-label={`${capitalized(resource.many)} that are exported`}
              />
            )}
            <p className="bulk-numbers">
              <span>{`${loaded} loaded…`}</span>
              <Button variant="default" size="compact-sm" onClick={cancel}>
                Cancel
              </Button>
            </p>
            {pause && <PauseMessage pause={pause} />}
          </div>
        )}
        <p role="status">{status === 'success' && `${countOf(resource, items)} ${was(items)} exported.`}</p>
        {error && (
          <Notice title={`The ${resource.many} could not be exported`} problem={problemOf(error)}>
            {problemOf(error).message}
          </Notice>
        )}
      </div>
    </Sheet>
  )
}
