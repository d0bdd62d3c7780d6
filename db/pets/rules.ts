/** What both the table and the pages of the console need to know of a pet. So this module imports nothing. */

export const petStatuses = ['available', 'pending', 'sold'] as const

/** Characters of a name. */
export const maxNameLength = 255

/** The greatest number of pets that is counted, because counting takes longer the more there are. */
export const maxCount = 10_000
