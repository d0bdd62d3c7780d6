import { run } from '#service'
import { service } from './service.ts'

await run(service)
