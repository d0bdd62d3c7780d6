import type { Noun } from '../resource.ts'

/** The texts of the help. They are loaded with it. */
export const help = {
  characters: 'Single-key shortcuts',
  actions: ({ one, many }: Noun) => ({
    search: 'Search, or go to an id',
    add: `Add a new ${one}`,
    choose: `Set a choice of the ${one} or of all selected ${many}, such as the status`,
    edit: `Edit the ${one}`,
    remove: `Remove the ${one}, or all selected ${many}`,
    undo: 'Undo the last change',
    nextItem: `Next ${one}`,
    previousItem: `Previous ${one}`,
    selectItem: `Select the ${one}, or deselect it`,
    selectNext: `Select also the next ${one}`,
    selectPrevious: `Select also the previous ${one}`,
    nextPage: 'Next page',
    previousPage: 'Previous page',
    close: 'Close the panel, or clear the selection or the search',
    help: 'Show this help',
  }),
}
