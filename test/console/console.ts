import { addButton, submitButton } from '../../engine/console/test/browser/panels.ts'
import {
  consoleTest,
  listen,
  type Open,
  opener,
  type Page,
  type Start,
  starter,
} from '../../engine/console/test/browser/visit.ts'
import { consoleFolder } from '../support/built-console.ts'
import { addPets, startTestApi, type TestApi } from '../support/petstore.ts'

/** Users stay signed in across releases. */
export const storageKey = 'petstore-api-key'

type NewPet = Parameters<Console['store']['pets']['create']>[0]

type Options = NonNullable<Parameters<typeof startTestApi>[0]>

export const test = consoleTest(storageKey).extend<{
  start: Start<Console, NewPet, Options>
  open: Open<Console, NewPet>
}>({
  start: async ({ visit }, use) =>
    use(starter(startConsole, { many: addPets, one: (store, pet: NewPet) => store.pets.create(pet) }, visit)),
  open: async ({ start }, use) => use(opener(start)),
})

export interface Console extends TestApi {
  url: string
}

export async function startConsole(options: Options = {}): Promise<Console> {
  const api = await startTestApi({ ...options, consoleFolder })
  return { ...api, url: await listen(api.app) }
}

/** Opens the form for a new pet and fills it in. */
export async function enterPet(page: Page, name: string, category: string): Promise<void> {
  await addButton(page).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('textbox', { name: 'Category' }).fill(category)
}

/** Adds a pet with the form. */
export async function addPet(page: Page, name: string, category: string): Promise<void> {
  await enterPet(page, name, category)
  await submitButton(page).click()
}
