import './pets/pet.css'
import { IconPaw } from './components/icons.tsx'
import { petResource } from './pets/pet.ts'
import { petstore } from './pets/product.ts'
import { start } from './start.tsx'

start(petstore, petResource, <IconPaw />)
