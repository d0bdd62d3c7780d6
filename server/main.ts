import { run } from './cli/program.ts'
import { composition } from './composition.ts'

await run(composition)
