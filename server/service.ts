import { join } from 'node:path'
import { defineService } from '#service'
import { definition } from '../db/store.ts'
import manifest from '../package.json' with { type: 'json' }
import { petTransfer } from './pets/pets.ts'
import { product } from './product.ts'
import { appRouter } from './router.ts'

const { version, gitHead = '' }: { version: string; gitHead?: string } = manifest

export const service = defineService({
  product: {
    ...product,
    version,
    revision: gitHead,
    description: 'Manages the pets of a pet store.',
    license: 'MIT',
    apiVersion: '1.0.0',
  },
  store: definition,
  router: appRouter,
  transfer: [petTransfer],
  console: join(import.meta.dirname, '../web/dist'),
})
