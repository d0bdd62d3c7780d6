import { petstore } from '../../../../server/product.ts'
import { IconMapQuestion } from '../../components/icons.tsx'
import { start } from '../../start.tsx'
import { shelterResource } from './shelters.ts'

/** The console of another resource. */
start(petstore, shelterResource, <IconMapQuestion />)
