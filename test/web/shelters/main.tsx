import { IconMapQuestion } from '../../../web/components/icons.tsx'
import { petstore } from '../../../web/pets/product.ts'
import { start } from '../../../web/start.tsx'
import { shelterResource } from './shelters.ts'

/** The console of another resource. */
start(petstore, shelterResource, <IconMapQuestion />)
