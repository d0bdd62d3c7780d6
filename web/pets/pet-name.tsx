import './pet-name.css'

/** A name in its own direction, on one line. A dot marks each space at its ends. */
export function PetName({ name }: { name: string }) {
  const { start, end } = outerSpacesOf(name)
  return (
    <bdi className="pet-name">
      <Spaces text={name.slice(0, start)} />
      {name.slice(start, name.length - end)}
      <Spaces text={name.slice(name.length - end)} />
    </bdi>
  )
}

function Spaces({ text }: { text: string }) {
  return Array.from(text, (space, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the spaces differ only in their positions.
    <span className="pet-space" key={index}>
      {space}
    </span>
  ))
}

/** The number of spaces at the ends of a name. */
export function outerSpacesOf(name: string): { start: number; end: number } {
  const start = name.length - name.trimStart().length
  return { start, end: name.length - start - name.trim().length }
}
