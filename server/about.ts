/** What the service is called and what it manages. The engines show it: the OpenAPI document, the banner, the commands. */
export const about = {
  title: 'Petstore',
  description: 'Manages the pets of a pet store.',
  /** What the database contains besides API keys. */
  content: 'pets',
  /** The path of the REST API that the banner shows. */
  path: '/pets',
}
