import type { ConsoleProduct } from '#console'

export const petstore: ConsoleProduct = {
  name: 'Petstore',
  command: 'petstore',
  keyPrefix: 'pet_',
  environmentPrefix: 'PETSTORE_',
}
