import { run } from './cli/program.ts'
import { service } from './service.ts'

await run(service)
