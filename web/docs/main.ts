import { showReference } from '#console/reference'
import { petstore } from '../pets/product.ts'

showReference(petstore)
