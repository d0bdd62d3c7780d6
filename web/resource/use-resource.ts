import { useMemo } from 'react'
import { useTexts } from '../messages/provider.tsx'
import { type Resource, withTexts } from '../resource.ts'

/** The resource with the texts of the language of the page. */
export function useResource(resource: Resource): Resource {
  const texts = useTexts(resource.texts)
  return useMemo(() => withTexts(resource, texts), [resource, texts])
}
