import { showReference } from '#console/reference'
import { product } from '../../server/product.ts'

showReference(product)
