// Preloaded so that a busy machine does not count as load: the mean delay of the event loop is always 0.
import { createRequire, syncBuiltinESMExports } from 'node:module'

const hooks = createRequire(import.meta.url)('node:perf_hooks')
const { monitorEventLoopDelay } = hooks

hooks.monitorEventLoopDelay = (options) => Object.defineProperty(monitorEventLoopDelay(options), 'mean', { value: 0 })
syncBuiltinESMExports()
