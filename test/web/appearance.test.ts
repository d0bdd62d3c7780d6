import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { maxInt64 } from '../../server/api/int64.ts'
import { addPets } from '../support/database.ts'
import { counting, enterPet, inspect, pageButton, showing, signIn, startConsole, test } from './console.ts'

test('the console fits the width of a phone', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 25)
  await store.pets.create({ name: 'M'.repeat(255), categoryId: -maxInt64, status: 'sold' })
  const page = await visit(url, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
  await page.getByLabel('API key').waitFor()
  expect(await page.evaluate(() => innerWidth)).toBe(360)
  expect(await overflow(page)).toBe(0)
  await signIn(page, key)
  await showing(page, 'Pets 1 to 20')
  await inspect(page, 'phone')
  await pageButton(page, 'Next').tap()
  await showing(page, 'Pets 21 to 26')
  expect(await overflow(page)).toBe(0)
  await page.getByRole('link', { name: 'MMM' }).tap()
  await page.getByRole('definition').getByText(`-${maxInt64}`).waitFor()
  expect(await overflow(page)).toBe(0)
  await inspect(page, 'phone-pet')
  await page.getByRole('button', { name: 'Close' }).tap()
  await page.setViewportSize({ width: 320, height: 600 })
  expect(await overflow(page)).toBe(0)
  await page.getByRole('button', { name: 'Add a pet' }).tap()
  await page.getByRole('dialog', { name: 'Add a pet' }).waitFor()
  expect(await overflow(page)).toBe(0)
  await page.getByRole('textbox', { name: 'Name' }).fill('W'.repeat(255))
  await page.getByRole('textbox', { name: 'Category' }).fill('7')
  await page.getByRole('button', { name: 'Add', exact: true }).tap()
  const message = page.getByRole('status').filter({ hasText: 'was added' })
  await message.waitFor()
  await inspect(page, 'phone-added')
  expect((await message.boundingBox())?.x).toBeGreaterThanOrEqual(0)
})

test('the color scheme follows the system until the user chooses one', async ({ visit }) => {
  const { url, key, store } = await startConsole()
  await addPets(store, 3)
  const page = await visit(url, { colorScheme: 'dark' })
  await inspect(page, 'dark-sign-in')
  await signIn(page, key)
  await showing(page, 'Pets 1 to 3')
  await inspect(page, 'dark-pets')
  await page.getByRole('link', { name: 'pet 2' }).click()
  await page.getByRole('definition').getByText('pet 2').waitFor()
  await inspect(page, 'dark-pet')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Use light colors' }).click()
  expect(await background(page)).toBe('rgb(255, 255, 255)')
  // This property sets the colors of scroll bars and of native form controls.
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('light')
  await page.reload()
  await showing(page, 'Pets 1 to 3')
  expect(await background(page)).toBe('rgb(255, 255, 255)')
  await page.getByRole('button', { name: 'Use dark colors' }).click()
  expect(await background(page)).not.toBe('rgb(255, 255, 255)')
})

test('the console looks like the screenshots of the README', async ({ visit }) => {
  const { url, key, rpc } = await startConsole()
  const animals = ['Rex', 'Minka', 'Tom', 'Bello', 'Luna', 'Coco', 'Nala', 'Simba', 'Felix', 'Paula', 'Kiwi']
  for (let pet = 0; pet < 44; pet++) {
    const status = (['available', 'available', 'pending', 'sold'] as const)[(pet * 5) % 4]
    await rpc.pets.create.mutate({ name: String(animals[pet % animals.length]), categoryId: BigInt(pet % 4), status })
  }
  const page = await visit(url, { key, viewport: { width: 1000, height: 640 } })
  await counting(page, 'all 44')
  await showing(page, 'Pets 1 to 20')
  await inspect(page, 'readme-pets')

  const phone = await visit(url, { key, viewport: { width: 360, height: 640 }, colorScheme: 'dark', isMobile: true })
  await enterPet(phone, 'Momo', 'seven')
  await phone.keyboard.press('Enter')
  await phone.getByText('Expected an integer').waitFor()
  await inspect(phone, 'readme-phone')
})

/** The number of pixels by which the page, the filter or a dialog is too wide. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const boxes = [document.documentElement, ...document.querySelectorAll('[role=radiogroup], [role=dialog]')]
    return Math.max(...boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
  })
}

function background(page: Page): Promise<string> {
  return page.evaluate(() => getComputedStyle(document.body).backgroundColor)
}
