import { useWindowEvent } from '@mantine/hooks'

/**
 * Takes a file that is dropped anywhere on the page, which the browser would open in its place. The attribute marks where it
 * would go.
 */
export function FileDrop({ onDrop }: { onDrop: (file: File) => void }): null {
  const mark = (isDragged: boolean) => document.documentElement.toggleAttribute('data-dragged', isDragged)
  useWindowEvent('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    mark(true)
  })
  useWindowEvent('dragleave', (event) => event.relatedTarget === null && mark(false))
  useWindowEvent('drop', (event) => {
    mark(false)
    if (!event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    const [file] = event.dataTransfer.files
    if (file) onDrop(file)
  })
  return null
}
