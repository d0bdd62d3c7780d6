import { useWindowEvent } from '@mantine/hooks'
import { useState } from 'react'

/**
 * Takes a file that is dropped anywhere on the page, which the browser would open in its place. Returns whether a file is
 * above the page.
 */
export function useFileDrop(onDrop: (file: File) => void): boolean {
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
    const [file] = event.dataTransfer.files
    if (file) onDrop(file)
  })
  return isDragged
}
