import { icon, start } from '#console/page'
import { product } from './product.ts'
import { books, notes } from './resources.ts'

const Icon = icon('M5 4h14v16h-14z M8 9h8 M8 13h8')

start(product, [
  { resource: notes, icon: <Icon /> },
  { resource: books, icon: <Icon /> },
])
