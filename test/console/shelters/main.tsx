import { IconMapQuestion } from '../../../engine/console/components/later-icons.tsx'
import { start } from '../../../engine/console/start.tsx'
import { petstore } from '../../../server/product.ts'
import { shelterResource } from './shelters.ts'

/** The console of another resource. */
start(petstore, [{ resource: shelterResource, icon: <IconMapQuestion /> }])
