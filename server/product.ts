/** What both the service and its console say about the product. */
export const petstore = {
  name: 'Petstore',
  command: 'petstore',
  keyPrefix: 'pet_',
  environmentPrefix: 'PETSTORE_',
}
