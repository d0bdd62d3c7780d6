import { petstore } from '../pets/product.ts'
import { showReference } from './reference.ts'

showReference(petstore)
