/** What the engines show of a service: in the OpenAPI document, the banner and the findings of the doctor. */
export interface About {
  title: string
  description: string
  /** The path of the REST API that the banner shows. */
  path: string
}

export const about: About = {
  title: 'Petstore',
  description: 'Manages the pets of a pet store.',
  path: '/pets',
}
