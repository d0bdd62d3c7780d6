import './value.css'
import type { ReactNode } from 'react'
import { date } from '../formats.ts'
import type { Field } from '../resource.ts'

/** What finds words in a text, which the first load does without. */
let words: typeof import('#store/words') | undefined

/** Loads what marks words. Without it, they are not marked. */
export async function loadWords(): Promise<void> {
  words ??= await import('#store/words').catch(() => undefined)
}

/**
 * A value of a field. Nothing if there is none. What was found is marked: the words of a text, or whole numbers.
 *
 * Each text that changes is alone in its element. The translation of a browser replaces texts, and React would then change
 * what the page no longer shows, or fail to remove it.
 */
export function Value({ field, value, found }: { field: Field; value: unknown; found?: unknown }) {
  if (value === undefined) return null
  if (value instanceof Date) {
    return <time dateTime={value.toISOString()}>{date(value)}</time>
  }
  const text = String(value)
  if (field.kind === 'text') return <Text text={text} found={found === undefined ? '' : String(found)} />
  if (!field.choices) return <span translate="no">{[found].flat().includes(value) ? <mark>{text}</mark> : text}</span>
  return (
    // The shape of the dot differs too, for forced colors and for users who do not see its color.
    <span className="choice" data-choice={text}>
      <span className="choice-dot" />
      <span>{field.choices[text] ?? text}</span>
    </span>
  )
}

/** A text in its own direction. A dot marks each space at its ends. */
function Text({ text, found }: { text: string; found: string }) {
  const { start, end } = outerSpacesOf(text)
  return (
    <bdi className="text" translate="no">
      <Spaces text={text.slice(0, start)} />
      {marked(text.slice(start, text.length - end), found)}
      <Spaces text={text.slice(text.length - end)} />
    </bdi>
  )
}

function marked(text: string, found: string): ReactNode {
  if (found === '' || !words) return text
  const parts = words.partsOf(text, words.wordsOf(found))
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts differ only in their positions.
  return parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))
}

function Spaces({ text }: { text: string }) {
  return Array.from(text, (space, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the spaces differ only in their positions.
    <span className="text-space" key={index}>
      {space}
    </span>
  ))
}

/** The number of spaces at the ends of a text. */
export function outerSpacesOf(text: string): { start: number; end: number } {
  const start = text.length - text.trimStart().length
  return { start, end: text.length - start - text.trim().length }
}

/** The attributes of an element with a value, for style sheets. */
export function valueAttributes({ name, kind }: Field) {
  return {
    'data-field': name,
    'data-kind': kind,
    className: kind === 'id' || kind === 'integer' ? 'number' : '',
  }
}
