/** What the service knows of the product that it serves. */
export interface Product {
  /** The name for people: in the banner, and as the title of the OpenAPI document. */
  name: string
  /** The name of the command, which is also the realm of the API keys and the name of the tracer and of the database file. */
  command: string
  version: string
  /** The commit of a built package. A checkout, which may have changes, has none. */
  revision?: string
  /** The first characters of every API key. */
  keyPrefix: string
  /** A sentence for the help of the command line, and for the OpenAPI document. */
  description: string
  /** The license of the REST interface, by its SPDX identifier. By default the OpenAPI document names none. */
  license?: string
  /** The version of the REST interface, which the OpenAPI document has. */
  apiVersion: string
}

/** What the names of its metrics begin with and, in upper case, the variables `API_KEY` and `API_KEY_FILE`. */
export function prefixOf(command: string): string {
  return `${command.replaceAll('-', '_')}_`
}
