import { run } from '#service/run'
import { service } from './service.ts'

await run(service)
