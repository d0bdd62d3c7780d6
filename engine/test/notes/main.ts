import { run } from '../../service/index.ts'
import { service } from './service.ts'

await run(service)
