import { serviceUrl } from '../service.ts'
import { storage } from '../storage.ts'

/** Shows the reference in an element, with an API key for its requests. The returned function removes it. */
type ShowReference = (element: HTMLElement, token: string | undefined) => () => void

interface Parameter {
  required?: boolean
  schema: object
  example?: unknown
  examples?: object
}

let loaded: Promise<ShowReference> | undefined

/** Loads the script of Scalar and the OpenAPI document, once. */
export function loadScalar(): Promise<ShowReference> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<ShowReference> {
  replaceBlockedStorage('localStorage')
  replaceBlockedStorage('sessionStorage')
  const [source] = await Promise.all([loadDocument(), loadScript()])
  // Safe: the script defines this global. https://scalar.com/products/api-references/configuration
  const scalar = Reflect.get(window, 'Scalar') as {
    createApiReference(element: HTMLElement, configuration: object): { destroy(): void }
  }
  return (element, token) => {
    const reference = scalar.createApiReference(element, configurationWith(source, token))
    return () => reference.destroy()
  }
}

/** The service preloads the script. Its name contains a hash of its content. */
function loadScript(): Promise<unknown> {
  const script = document.createElement('script')
  script.src = document.querySelector<HTMLLinkElement>('link[rel=preload][as=script]')?.href ?? ''
  const { promise, resolve, reject } = Promise.withResolvers()
  script.addEventListener('load', resolve)
  script.addEventListener('error', reject)
  document.head.append(script)
  return promise
}

/**
 * The OpenAPI document, in which the optional parameters without a default are disabled (`x-disabled` of Scalar). Otherwise
 * the page would send their examples with each request, and so filter the list. If the document cannot be loaded, Scalar
 * tries again and shows the error.
 */
async function loadDocument(): Promise<object> {
  const url = `${serviceUrl()}/openapi.json`
  try {
    const content: { paths: Record<string, Record<string, { parameters?: Parameter[] }>> } = await (
      await fetch(url)
    ).json()
    for (const path of Object.values(content.paths)) {
      for (const { parameters = [] } of Object.values(path)) parameters.forEach(disableOptional)
    }
    return { content }
  } catch {
    return { url }
  }
}

function disableOptional(parameter: Parameter): void {
  if (parameter.required || 'default' in parameter.schema) return
  parameter.examples = { default: { value: parameter.example, 'x-disabled': true } }
  delete parameter.example
}

function configurationWith(source: object, token: string | undefined): object {
  return {
    ...source,
    // The page sends requests only to the servers in the document.
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    hideClientButton: true,
    hideDarkModeToggle: true,
    showDeveloperTools: 'never',
    authentication: { preferredSecurityScheme: 'apiKey', ...(token && { securitySchemes: { apiKey: { token } } }) },
    mcp: { disabled: true },
    agent: { disabled: true },
  }
}

/** Scalar needs a storage. In a browser that blocks it, it gets one that lasts as long as the page. */
function replaceBlockedStorage(name: 'localStorage' | 'sessionStorage'): void {
  if (storage(name)) return
  const values = new Map<string, string>()
  const value = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, text: unknown) => void values.set(key, String(text)),
    removeItem: (key: string) => void values.delete(key),
  }
  Object.defineProperty(window, name, { value })
}
