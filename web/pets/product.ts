import type { ConsoleProduct } from '../service.ts'

export const petstore: ConsoleProduct = {
  name: 'Petstore',
  command: 'petstore',
  keyPrefix: 'pet_',
  environmentPrefix: 'PETSTORE_',
}
