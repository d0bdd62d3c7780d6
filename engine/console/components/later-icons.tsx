import { icon } from './icons.tsx'

/** The icons of what is loaded after the list. */

export const IconBook = icon(
  'M3 19a9 9 0 0 1 9 0a9 9 0 0 1 9 0 M3 6a9 9 0 0 1 9 0a9 9 0 0 1 9 0 M3 6v13 M12 6v13 M21 6v13',
)
export const IconChevronUp = icon('M6 15l6-6l6 6')
export const IconLogout = icon(
  'M14 8v-2a2 2 0 0 0-2-2h-7a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h7a2 2 0 0 0 2-2v-2 M9 12h12l-3-3 M18 15l3-3',
)
export const IconMapQuestion = icon(
  'M15 20l-6-3l-6 3v-13l6-3l6 3l6-3v7.5 M9 4v13 M15 7v5.5 M19 22v.01 M19 19a2.003 2.003 0 0 0 .914-3.782a1.98 1.98 0 0 0-2.414 .483',
)
export const IconPencil = icon('M4 20h4l10.5 -10.5a2.828 2.828 0 1 0 -4 -4l-10.5 10.5v4 M13.5 6.5l4 4')
export const IconTrash = icon(
  'M4 7l16 0 M10 11l0 6 M14 11l0 6 M5 7l1 12a2 2 0 0 0 2 2h8a2 2 0 0 0 2 -2l1 -12 M9 7v-3a1 1 0 0 1 1 -1h4a1 1 0 0 1 1 1v3',
)
