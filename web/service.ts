/**
 * The address of the service that serves this page, without a slash at the end, such as `https://shop.example/petstore`.
 * The service writes the path of PUBLIC_URL into the `base` element of the page.
 */
export function serviceUrl(): string {
  return document.baseURI.replace(/\/$/, '')
}

/** The path of the service: empty, or such as `/petstore`. */
export function servicePath(): string {
  return new URL(document.baseURI).pathname.replace(/\/$/, '')
}
