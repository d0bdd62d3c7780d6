import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { usePetstore } from '../petstore.ts'
import type { Resource } from '../resource.ts'
import { type ExportFormat, exportItems } from './export-items.ts'
import type { Pause } from './retry-while-away.ts'
import { saveFile } from './save-file.ts'

/** Further input of the list. Empty for all items. */
export type Filter = Readonly<Record<string, string>>

/** Loads the items of a filter, and downloads them as a file. */
export function useExport(resource: Resource, filter: Filter) {
  const procedures = resource.procedures(usePetstore())
  /** The number of items that are loaded. */
  const [items, setItems] = useState(0)
  const [pause, setPause] = useState<Pause>()
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])

  async function download(format: ExportFormat): Promise<void> {
    controller.current = new AbortController()
    const { signal } = controller.current
    setItems(0)
    try {
      const options = { format, filter, signal, onProgress: setItems, onPause: setPause }
      const file = await exportItems(resource, procedures, options)
      saveFile(`${[resource.many, ...Object.values(filter)].join('-')}.${format}`, file)
    } finally {
      setPause(undefined)
    }
  }

  const { mutate, reset, isPending, isSuccess, error } = useMutation({ mutationFn: download })
  function cancel() {
    controller.current?.abort()
    reset()
  }
  return { isLoading: isPending, isSaved: isSuccess, error, items, pause, start: mutate, cancel }
}

export type Export = ReturnType<typeof useExport>
