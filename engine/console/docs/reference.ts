import './reference.css'
import { findKey } from '../api-key.ts'
import { type ConsoleProduct, setProduct } from '../service.ts'
import { storage } from '../storage.ts'

/** The script of Scalar, https://scalar.com/products/api-references/configuration. */
interface Scalar {
  createApiReference(element: Element | null, configuration: object): { destroy(): void }
}

interface Parameter {
  required?: boolean
  schema: object
  examples?: object
}

const button = document.querySelector('button')

/** Shows the reference of the REST API. */
export function showReference(product: ConsoleProduct): void {
  setProduct(product)
  replaceBlockedStorage('localStorage')
  replaceBlockedStorage('sessionStorage')
  // By then the script of Scalar has run.
  document.addEventListener('DOMContentLoaded', () => void show(product))
}

async function show({ keyPrefix }: ConsoleProduct): Promise<void> {
  const scalar: Scalar | undefined = Reflect.get(window, 'Scalar')
  if (!scalar)
    return document.querySelector('#loading')?.replaceChildren('The reference could not be loaded. Reload the page.')
  const source = await loadDocument()
  followReference()
  const create = (token?: string) =>
    scalar.createApiReference(document.querySelector('#reference'), { ...source, ...configurationWith(token) })
  let reference = create()
  if (!button) return
  button.disabled = false
  button.addEventListener('click', async () => {
    const token = await findKey()
    if (token === null) return say('No tab of the console is signed in.')
    // If only its configuration were updated, a token that the user has entered would take precedence over the key.
    reference.destroy()
    reference = create(token)
    // The part of a key that identifies it, as in `keys list`.
    say(`Requests use the key ${token.slice(0, keyPrefix.length + 6)}…`)
  })
}

/** Milliseconds without a change until what Scalar shows keeps its place. */
const settled = 300

/** Shows what Scalar renders once it keeps its place. Names the buttons that Scalar 1.72 leaves without a name, also later. */
function followReference(): void {
  let timer: ReturnType<typeof setTimeout>
  const follow = () => {
    for (const each of document.querySelectorAll('.scalar-code-copy')) each.ariaLabel ??= 'Copy'
    for (const each of document.querySelectorAll('button[aria-pressed]')) each.ariaLabel ??= 'Dark colors'
    clearTimeout(timer)
    timer = setTimeout(() => document.querySelector('#loading')?.remove(), settled)
  }
  new MutationObserver(follow).observe(document.body, { childList: true, subtree: true })
}

function say(text: string): void {
  document.querySelector('[role=status]')?.replaceChildren(text)
}

function configurationWith(token: string | undefined): object {
  return {
    // The page sends requests only to the servers in the document.
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    hideClientButton: true,
    showDeveloperTools: 'never',
    authentication: { preferredSecurityScheme: 'apiKey', ...(token && { securitySchemes: { apiKey: { token } } }) },
    mcp: { disabled: true },
    agent: { disabled: true },
  }
}

/**
 * The OpenAPI document, in which the optional parameters without a default are disabled (`x-disabled` of Scalar). Otherwise
 * the page would send an example of their schema with each request, and so filter the list. If the document cannot be
 * loaded, Scalar tries again and shows the error.
 */
async function loadDocument(): Promise<object> {
  const url = '../openapi.json'
  try {
    const content: { paths: Record<string, Record<string, { parameters?: Parameter[] }>> } = await (
      await fetch(url)
    ).json()
    const operations = Object.values(content.paths).flatMap((path) => Object.values(path))
    for (const { parameters = [] } of operations) parameters.forEach(disableOptional)
    return { content }
  } catch {
    return { url }
  }
}

function disableOptional(parameter: Parameter): void {
  if (parameter.required || 'default' in parameter.schema) return
  parameter.examples = { default: { value: '', 'x-disabled': true } }
}

/** Scalar needs a storage. In a browser that blocks it or has no space, it gets one that lasts as long as the page. */
function replaceBlockedStorage(name: 'localStorage' | 'sessionStorage'): void {
  const { get, set, remove } = storage(name)
  set('trial', 'kept')
  const isKept = get('trial') === 'kept'
  remove('trial')
  if (isKept) return
  const values = new Map<string, string>()
  const value = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, text: unknown) => void values.set(key, String(text)),
    removeItem: (key: string) => void values.delete(key),
  }
  Object.defineProperty(window, name, { value })
}
