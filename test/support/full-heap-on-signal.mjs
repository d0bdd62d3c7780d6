// Preloaded so that a signal makes the heap look full, and the next one ends that. A real overload would slow down
// everything else on the machine.
import { createRequire, syncBuiltinESMExports } from 'node:module'

const v8 = createRequire(import.meta.url)('node:v8')
const { getHeapStatistics } = v8
let isFull = false

process.on('SIGUSR2', () => {
  isFull = !isFull
})
v8.getHeapStatistics = () => {
  const statistics = getHeapStatistics()
  return isFull ? { ...statistics, used_heap_size: statistics.heap_size_limit } : statistics
}
syncBuiltinESMExports()
