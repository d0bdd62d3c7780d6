import './pets/pet.css'
import { IconPaw } from '../engine/console/components/icons.tsx'
import { start } from '../engine/console/start.tsx'
import { petResource } from './pets/pet.ts'
import { petstore } from './pets/product.ts'

start(petstore, petResource, <IconPaw />)
