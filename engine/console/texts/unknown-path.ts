import type { Noun } from '../resource.ts'

/** The texts of the page of an unknown path. */
export const unknownPath = {
  title: 'Page not found',
  text: (path: string) => `This service has nothing at ${path}.`,
  toList: ({ many }: Noun) => `Go to the ${many}`,
}
