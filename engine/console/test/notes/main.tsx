import { IconMapQuestion } from '../../components/later-icons.tsx'
import { start } from '../../start.tsx'
import { books, notes } from './resources.ts'

start({ name: 'Notes', command: 'notes', keyPrefix: 'note_', environmentPrefix: 'NOTES_' }, [
  { resource: notes, icon: <IconMapQuestion /> },
  { resource: books, icon: <IconMapQuestion /> },
])
