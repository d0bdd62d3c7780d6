import { consoleConfig } from '#console/vite'

export default consoleConfig(import.meta.dirname)
