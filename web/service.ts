/** The service has the scripts of the console in a folder at its address. */
const script = import.meta.url

/** The address of the service that serves this page, without a slash at the end, such as `https://shop.example/petstore`. */
export function serviceUrl(): string {
  return new URL('..', script).href.replace(/\/$/, '')
}

/** The path of the service: empty, or such as `/petstore`. */
export function servicePath(): string {
  return new URL(serviceUrl()).pathname.replace(/\/$/, '')
}
