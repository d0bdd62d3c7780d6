import type { ConsoleProduct } from '../../engine/console/service.ts'

export const petstore: ConsoleProduct = {
  name: 'Petstore',
  command: 'petstore',
  keyPrefix: 'pet_',
  environmentPrefix: 'PETSTORE_',
}
