import { IconPaw, start } from '#console/page'
import './pets/pet.css'
import { petResource } from './pets/pet.ts'
import { petstore } from './pets/product.ts'

start(petstore, petResource, <IconPaw />)
