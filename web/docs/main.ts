import { showReference } from '../../engine/console/docs/reference.ts'
import { petstore } from '../pets/product.ts'

showReference(petstore)
