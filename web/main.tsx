import './pets/pet.css'
import { IconPaw } from './components/icons.tsx'
import { petResource } from './pets/pet.ts'
import { start } from './start.tsx'

start(petResource, <IconPaw />)
