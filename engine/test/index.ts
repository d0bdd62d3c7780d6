/** What the tests of a product need. */
export { openTestStore } from './support/database.ts'
export { startTestService } from './support/test-api.ts'
export { testTexts } from './support/texts.ts'
