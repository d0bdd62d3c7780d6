import { addButton } from '../../engine/console/test/browser/page.ts'
import { consoleTest, listen, type Open, opener, type Page } from '../../engine/console/test/browser/visit.ts'
import { consoleFolder } from '../support/built-console.ts'
import { addPets, startTestApi, type TestApi } from '../support/petstore.ts'

/** Users stay signed in across releases. */
export const storageKey = 'petstore-api-key'

type NewPet = Parameters<Console['store']['pets']['create']>[0]

export const test = consoleTest(storageKey).extend<{ openConsole: Open<Console, NewPet> }>({
  openConsole: async ({ visit }, use) =>
    use(opener(startConsole, { many: addPets, one: (store, pet: NewPet) => store.pets.create(pet) }, visit)),
})

export interface Console extends TestApi {
  url: string
}

export async function startConsole(options: Parameters<typeof startTestApi>[0] = {}): Promise<Console> {
  const api = await startTestApi({ ...options, consoleFolder })
  return { ...api, url: await listen(api.app) }
}

/** Opens the form for a new pet and fills it in. */
export async function enterPet(page: Page, name: string, category: string): Promise<void> {
  await addButton(page).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('textbox', { name: 'Category' }).fill(category)
}
