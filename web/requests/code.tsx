import './code.css'
import { tokensOf } from './tokens.ts'

/** Highlighted JSON, TypeScript or shell commands. A copy of it is exactly the text. */
export function Code({ text }: { text: string }) {
  return tokensOf(text).map(({ text: part, kind }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts differ only in their positions.
    <span key={index} className={kind && `code-${kind}`}>
      {part}
    </span>
  ))
}
