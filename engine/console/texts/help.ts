import type { Noun } from '../resource.ts'

/** The texts of the help. They are loaded with it. */
export const help = {
  characters: 'Single-key shortcuts',
  /** @param label the field with choices, if there is one */
  actions: ({ one, many }: Noun, label = 'value') => ({
    search: 'Search, or go to an id',
    add: `Add a new ${one}`,
    choose: `Set the ${label.toLowerCase()} of the ${one}, or of all selected ${many}`,
    option: `Choose a ${label.toLowerCase()} in the menu`,
    open: `Open the ${one}`,
    edit: `Edit the ${one}`,
    remove: `Remove the ${one}, or all selected ${many}`,
    undo: 'Undo the last change',
    notice: 'Go to the message about the last change',
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
