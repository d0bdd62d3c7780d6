/** A page for each collection: see README.md. Describe the product and the fields here; `#console/page` shows them. */
export { resourceOf } from './resource.ts'
export type { ConsoleProduct } from './service.ts'
