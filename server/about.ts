/** What the engines show of a service: in the OpenAPI document and the banner. */
export interface About {
  title: string
  /** A sentence for the help of the command line. */
  summary: string
  description: string
  /** The version of the REST interface, which the OpenAPI document has. That of the program is in package.json. */
  apiVersion: string
  /** The path of the REST API that the banner shows. */
  path: string
}

export const about: About = {
  title: 'Petstore',
  summary: 'The pet store service.',
  description: 'Manages the pets of a pet store.',
  apiVersion: '1.0.0',
  path: '/pets',
}
