import { wordsOf } from './command.ts'

/** A label in which the typed words are emphasized. */
export function Label({ label, text }: { label: string; text: string }) {
  const words = wordsOf(text).map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  // The captured words are the parts with odd indices.
  const parts = words.length === 0 ? [label] : label.split(new RegExp(`(${words.join('|')})`, 'iu'))
  return (
    <bdi className="palette-label">
      {parts.map((part, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts differ only in their positions.
        index % 2 === 1 ? <mark key={index}>{part}</mark> : part,
      )}
    </bdi>
  )
}
