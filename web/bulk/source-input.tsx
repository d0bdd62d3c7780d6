import { Button, FileButton, Textarea } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { useRef, useState } from 'react'
import { messages } from '../messages/index.ts'
import { namesOf, type Resource } from '../resource.ts'
import { csvLine } from './csv.ts'

const { bulk } = messages

const maxMegabytes = 5

interface SourceInputProps {
  resource: Resource
  text: string
  onChange: (text: string) => void
  /** Why the text cannot be used. */
  problem: string | undefined
}

/** A text area that also takes the text of a file. */
export function SourceInput({ resource, text, onChange, problem }: SourceInputProps) {
  const [fileProblem, setFileProblem] = useState<string>()
  const area = useRef<HTMLTextAreaElement>(null)
  const resetChoice = useRef<() => void>(null)

  function change(changed: string) {
    setFileProblem(undefined)
    onChange(changed)
  }

  async function load(file: File | null | undefined) {
    if (!file) return
    // Otherwise choosing the same file again would change nothing.
    resetChoice.current?.()
    const read = await readFile(file)
    if ('text' in read) change(read.text)
    else setFileProblem(read.problem)
    area.current?.focus()
  }

  const isDragged = useFileDrop((file) => void load(file))

  return (
    <div>
      <Textarea
        ref={area}
        label={bulk.source}
        description={hintOf(resource)}
        placeholder={exampleOf(resource)}
        error={fileProblem ?? problem}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
        classNames={{ input: 'bulk-source' }}
        rows={8}
        resize="vertical"
        wrap="off"
        spellCheck={false}
        autoComplete="off"
        data-autofocus
        data-dragged={isDragged || undefined}
      />
      <div className="bulk-file">
        <FileButton
          resetRef={resetChoice}
          onChange={(file) => void load(file)}
          accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,text/*,application/json"
        >
          {(props) => (
            <Button variant="default" size="compact-sm" {...props}>
              {bulk.chooseFile}
            </Button>
          )}
        </FileButton>
        <span>{isDragged ? bulk.drop : bulk.dropHint}</span>
      </div>
    </div>
  )
}

function hintOf({ noun, entered }: Resource): string {
  const optional = entered.filter(({ presence }) => presence === 'optional')
  return bulk.sourceHint(noun, namesOf(entered), namesOf(optional))
}

/** Two rows and their header. */
function exampleOf({ entered }: Resource): string {
  const rows = [0, 1].map((index) => entered.map(({ samples }) => samples?.[index]))
  return [namesOf(entered), ...rows].map(csvLine).join('').trimEnd()
}

/** Takes a file that is dropped anywhere on the page, where the browser would open it instead. */
function useFileDrop(onDrop: (file: File | undefined) => void): boolean {
  const [isDragged, setIsDragged] = useState(false)

  useWindowEvent('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    setIsDragged(true)
  })
  useWindowEvent('dragleave', (event) => {
    if (event.relatedTarget === null) setIsDragged(false)
  })
  useWindowEvent('drop', (event) => {
    setIsDragged(false)
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    onDrop(event.dataTransfer.files[0])
  })
  return isDragged
}

/** The text of a file. Another encoding than UTF-8 would change names without notice. */
async function readFile(file: File): Promise<{ text: string } | { problem: string }> {
  if (file.size > maxMegabytes * 1_000_000) return { problem: bulk.fileTooLarge(maxMegabytes) }
  try {
    const bytes = await file.arrayBuffer()
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    return { problem: error instanceof TypeError ? bulk.fileNotUtf8 : bulk.fileUnreadable }
  }
}
