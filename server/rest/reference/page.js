/** The address of the service, with a slash at the end. This page is at `/docs/` below it. */
const service = new URL('..', location.href)
const servicePath = service.pathname.slice(0, -1)
/** The names under which the console stores these in the browser: `web/session.ts`, and Mantine. */
const apiKeyName = `petstore-api-key${servicePath}`
const colorSchemeName = 'mantine-color-scheme-value'
/** The channel on which tabs of the console hand over their key. */
const channelName = `petstore-session${servicePath}`
/** Milliseconds to wait for a tab that is signed in. */
const maxWait = 500

for (const name of /** @type {const} */ (['localStorage', 'sessionStorage'])) replaceBlockedStorage(name)
applyColorScheme()
addEventListener('storage', ({ key }) => {
  if (key === colorSchemeName) applyColorScheme()
})
// This script runs before that of Scalar, so that the page has its colors from the beginning.
document.addEventListener('DOMContentLoaded', start)

/**
 * Scalar and this script need a storage. In a browser that blocks it, they get one that lasts as long as the page.
 * @param {'localStorage' | 'sessionStorage'} name
 */
function replaceBlockedStorage(name) {
  try {
    if (window[name]) return
  } catch {
    // Reading the property throws a SecurityError.
  }
  /** @type {Map<string, string>} */
  const values = new Map()
  const value = {
    /** @param {string} key */
    getItem: (key) => values.get(key) ?? null,
    /** @param {string} key @param {unknown} text */
    setItem: (key, text) => void values.set(key, String(text)),
    /** @param {string} key */
    removeItem: (key) => void values.delete(key),
  }
  Object.defineProperty(window, name, { value })
}

/** Applies `light`, `dark` or `auto`. Scalar reads its own name when it starts, and sets the same classes. */
function applyColorScheme() {
  const chosen = localStorage.getItem(colorSchemeName)
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.body.classList.toggle('dark-mode', isDark)
  document.body.classList.toggle('light-mode', !isDark)
  localStorage.setItem('colorMode', chosen === 'dark' || chosen === 'light' ? chosen : 'system')
}

async function start() {
  const source = await loadDocument()
  /** @type {{ createApiReference(place: string, configuration: object): { destroy(): void } }} */
  const scalar = Reflect.get(window, 'Scalar')
  let reference = scalar.createApiReference('#reference', configurationWith(source))
  const status = document.querySelector('[role=status]')
  document.querySelector('button')?.addEventListener('click', async () => {
    const apiKey = storedKey() ?? (await requestKey())
    if (apiKey !== null) {
      // If the configuration were only updated, a token that the user has entered would take precedence over the key.
      reference.destroy()
      reference = scalar.createApiReference('#reference', configurationWith(source, apiKey))
    }
    if (status) status.textContent = describe(apiKey)
  })
}

/** @param {string | null} apiKey */
function describe(apiKey) {
  // The part of a key that identifies it, as in `petstore keys list`.
  return apiKey === null ? 'No tab of the console is signed in.' : `Requests use the key ${apiKey.slice(0, 10)}…`
}

/**
 * The OpenAPI document, in which the optional parameters without a default are disabled (`x-disabled` of Scalar). Otherwise
 * the page would send their examples with each request, and so filter the list. If the document cannot be loaded, Scalar
 * tries again and shows the error.
 */
async function loadDocument() {
  const url = new URL('openapi.json', service).href
  try {
    const content = await (await fetch(url)).json()
    for (const path of Object.values(content.paths)) {
      for (const { parameters = [] } of Object.values(path)) parameters.forEach(disableOptional)
    }
    return { content }
  } catch {
    return { url }
  }
}

/** @param {{ required?: boolean, schema: object, example?: unknown, examples?: object }} parameter */
function disableOptional(parameter) {
  if (parameter.required || 'default' in parameter.schema) return
  parameter.examples = { default: { value: parameter.example, 'x-disabled': true } }
  delete parameter.example
}

/**
 * https://scalar.com/products/api-references/configuration
 * @param {object} source of the OpenAPI document
 * @param {string} [token]
 */
function configurationWith(source, token) {
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

/** The key of the console in this tab, or the one that it remembers on this device. */
function storedKey() {
  return sessionStorage.getItem(apiKeyName) ?? localStorage.getItem(apiKeyName)
}

/**
 * Asks the other tabs. Resolves to null if none is signed in.
 * @returns {Promise<string | null>}
 */
async function requestKey() {
  const channel = openChannel()
  if (!channel) return null
  return new Promise((resolve) => {
    /** @param {string | null} apiKey */
    const finish = (apiKey) => {
      clearTimeout(timer)
      channel.close()
      resolve(apiKey)
    }
    const timer = setTimeout(() => finish(null), maxWait)
    channel.addEventListener('message', ({ data }) => {
      if (data.type === 'key') finish(data.apiKey)
    })
    channel.postMessage({ type: 'request-key' })
  })
}

/** Undefined in a browser that blocks it, as Firefox does together with storage. */
function openChannel() {
  try {
    return new BroadcastChannel(channelName)
  } catch {
    return undefined
  }
}
