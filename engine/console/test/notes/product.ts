/** What the service and the console of the notes have in common. */
export const product = { name: 'Notes', command: 'notes', keyPrefix: 'note_' }
