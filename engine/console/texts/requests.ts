import { keyVariable } from '../service.ts'
import { number, time } from './formats.ts'

/** The texts of the requests. They are loaded with them. */
export const requests = {
  note: 'Your actions, newest first, then what the page loaded by itself. A repeated request keeps its place.',
  empty: 'This tab has sent no request yet.',
  time,
  outcomes: { pending: 'Pending', cancelled: 'Cancelled', unanswered: 'No response', known: 'Cached' },
  duration: (milliseconds: number) => `${number(milliseconds)} ms`,
  curl: () => `The same call of the REST API, with your API key in ${keyVariable()}:`,
  onlyRpc: (procedure: string) => `Only the RPC API has ${procedure}. In TypeScript, with the typed client:`,
}
