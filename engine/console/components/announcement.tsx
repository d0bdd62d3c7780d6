import { useEffect, useState } from 'react'

/** Milliseconds within which screen readers have announced a text. */
const spokenAfter = 8_000

/**
 * A text for screen readers only, which announce it once. It is removed after that, or they would read it again later. Its
 * region exists before the text, or they would not announce the first one.
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
