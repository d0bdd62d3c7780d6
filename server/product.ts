/** What both the service and its console say about the product. */
export const product = {
  name: 'Petstore',
  command: 'petstore',
  keyPrefix: 'pet_',
}
