import { run } from '../engine/service/cli/program.ts'
import { service } from './service.ts'

await run(service)
