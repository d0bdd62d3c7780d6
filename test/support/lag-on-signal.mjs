// Preloaded so that a signal makes the event loop look blocked, and the next one ends that. A real overload would slow down
// everything else on the machine.
import { createRequire, syncBuiltinESMExports } from 'node:module'

const hooks = createRequire(import.meta.url)('node:perf_hooks')
const { monitorEventLoopDelay } = hooks
let mean = 0

process.on('SIGUSR2', () => {
  mean = mean === 0 ? 1e9 : 0
})
hooks.monitorEventLoopDelay = (options) =>
  Object.defineProperty(monitorEventLoopDelay(options), 'mean', { get: () => mean })
syncBuiltinESMExports()
