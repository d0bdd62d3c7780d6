/** The service has the scripts of the console in a folder at its address. */
const script = import.meta.url

/** The address of the service that serves this page, without a slash at the end, such as `https://shop.example/api`. */
export function serviceUrl(): string {
  return new URL('..', script).href.replace(/\/$/, '')
}

/** The path of the service: empty, or such as `/api`. */
export function servicePath(): string {
  return new URL(serviceUrl()).pathname.replace(/\/$/, '')
}

/** What the console knows of its product. */
export interface ConsoleProduct {
  name: string
  /** The name of the command. The names of the variable `API_KEY` and of what the browser stores begin with it. */
  command: string
  /** The first characters of every API key. */
  keyPrefix: string
}

let current: ConsoleProduct | undefined

/** Call it before anything is shown. Not a context of React, because modules without components need the product, too. */
export function setProduct(product: ConsoleProduct): void {
  current = product
}

export function product(): ConsoleProduct {
  if (!current) throw new Error('The console needs a product: call start.')
  return current
}

/** The variable of the environment from which commands read the API key. */
export function keyVariable(): string {
  return `${product().command.replaceAll('-', '_').toUpperCase()}_API_KEY`
}
