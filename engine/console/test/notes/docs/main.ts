import { showReference } from '../../../docs/reference.ts'
import { product } from '../product.ts'

showReference(product)
