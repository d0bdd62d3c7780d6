import { showReference } from '#console/reference'
import { petstore } from '../../server/product.ts'

showReference(petstore)
