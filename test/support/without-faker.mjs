// Preloaded to make the package @faker-js/faker missing, as in an installation without development dependencies.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (!specifier.startsWith('@faker-js/faker')) return nextResolve(specifier, context)
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
