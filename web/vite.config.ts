import { consoleConfig } from '#console/vite'
import { appRouter } from '../server/router.ts'

export default consoleConfig(import.meta.dirname, appRouter)
