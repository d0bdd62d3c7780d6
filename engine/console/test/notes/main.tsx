import { IconMapQuestion } from '../../components/later-icons.tsx'
import { start } from '../../start.tsx'
import { product } from './product.ts'
import { books, notes } from './resources.ts'

start(product, [
  { resource: notes, icon: <IconMapQuestion /> },
  { resource: books, icon: <IconMapQuestion /> },
])
