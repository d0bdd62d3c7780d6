import { IconMapQuestion } from '../../../web/components/icons.tsx'
import { start } from '../../../web/start.tsx'
import { shelterResource } from './shelters.ts'

/** The console of another resource. */
start(shelterResource, <IconMapQuestion />)
