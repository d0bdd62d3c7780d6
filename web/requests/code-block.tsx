import './code-block.css'
import { useClipboard } from '@mantine/hooks'
import { useEffect, useRef } from 'react'
import { Button } from '../components/buttons.tsx'
import { messages } from '../texts/messages.ts'
import { Code } from './code.tsx'

interface CodeBlockProps {
  title: string
  /** The accessible name of the button that copies the text. */
  copy: string
  text: string
}

/** A text with a button that copies exactly what is shown. */
export function CodeBlock({ title, copy, text }: CodeBlockProps) {
  const { page, request } = messages
  const code = useRef<HTMLElement>(null)
  const clipboard = useClipboard({ timeout: 2_000 })
  useEffect(() => {
    // A page that is served by plain HTTP has no clipboard.
    if (clipboard.error && code.current) getSelection()?.selectAllChildren(code.current)
  }, [clipboard.error])
  const outcome = clipboard.copied ? page.copied : clipboard.error && request.selected

  return (
    <div className="code-block">
      <div className="code-block-head">
        <span>{title}</span>
        <Button
          variant="default"
          size="compact-xs"
          {...(!outcome && { 'aria-label': copy })}
          onClick={() => clipboard.copy(text)}
        >
          {outcome ?? page.copy}
        </Button>
        <span className="visually-hidden" role="status">
          {outcome}
        </span>
      </div>
      <pre dir="ltr">
        <code ref={code} translate="no">
          <Code text={text} />
        </code>
      </pre>
    </div>
  )
}
