import { useEffect, useState } from 'react'

/** Milliseconds after which a text was announced. */
const spokenAfter = 8_000

/**
 * A text only for screen readers, which announce it once: it goes by itself, or they would read it again later. Its region is
 * there before, or they would not announce the first one.
 */
export function Announcement({ text }: { text: string | false | undefined }) {
  const [spoken, setSpoken] = useState<typeof text>()
  useEffect(() => {
    const timer = setTimeout(() => setSpoken(text), spokenAfter)
    return () => {
      clearTimeout(timer)
      setSpoken(undefined)
    }
  }, [text])
  return (
    <span className="visually-hidden" role="status">
      {text !== spoken && text}
    </span>
  )
}
