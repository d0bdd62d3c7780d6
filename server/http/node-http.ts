/**
 * What the service uses of `node:http`. An import of the module from an ES module reads all its exports, one of which loads
 * `fetch` and `WebSocket`: that takes 30 ms.
 */
export const { createServer, METHODS, STATUS_CODES } = process.getBuiltinModule('node:http')
