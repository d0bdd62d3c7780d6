import { afterAll, beforeAll } from 'vitest'
import {
  account,
  addButton,
  choose,
  counting,
  inspect,
  justAdded,
  panel,
  searchField,
  showing,
  submitButton,
} from '../../../engine/console/test/browser/page.ts'
import type { BrowserContextOptions, Page, Route } from '../../../engine/console/test/browser/visit.ts'
import type { AtEnd } from '../../../engine/test/support/temporary.ts'
import { type Console, enterPet, startConsole, test } from '../console.ts'

const light = { colorScheme: 'light' } as const
const dark = { colorScheme: 'dark' } as const
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

const variants = {
  'light-1440': { ...light, viewport: { width: 1_440, height: 900 } },
  'dark-1440': { ...dark, viewport: { width: 1_440, height: 900 } },
  'light-1920': { ...light, viewport: { width: 1_920, height: 1_080 } },
  'light-1024': { ...light, viewport: { width: 1_024, height: 768 } },
  'light-768': { ...light, viewport: { width: 768, height: 1_024 } },
  'light-360': { ...light, ...phone },
  'dark-360': { ...dark, ...phone },
  'light-320': { ...light, ...phone, viewport: { width: 320, height: 640 } },
  'forced-1440': { forcedColors: 'active', reducedMotion: 'reduce', viewport: { width: 1_440, height: 900 } },
} as const satisfies Record<string, BrowserContextOptions>

interface OpenOptions {
  path?: string
  /** The store of the service. */
  of?: 'full' | 'empty'
  isSignedIn?: boolean
}

type Open = (options?: OpenOptions) => Promise<Page>

/** Brings the console into each of its states. The screenshots have the same names. */
const states: Record<string, (open: Open) => Promise<Page>> = {
  async 'sign-in'(open) {
    const page = await open({ isSignedIn: false })
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    return page
  },
  async 'sign-in-invalid'(open) {
    const page = await open({ isSignedIn: false })
    await page.getByLabel('API key').fill('pet_wrong')
    await page.keyboard.press('Enter')
    await page.getByText('This key is not valid.').waitFor()
    return page
  },
  async 'signed-out'(open) {
    const page = await open({ of: 'empty' })
    await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
    await page.route('**/trpc/**', fulfill(401, 'The API key is not valid.'))
    await page.getByText('You were signed out').waitFor()
    return page
  },
  async loading(open) {
    const page = await open({ of: 'empty' })
    await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
    await page.route('**/trpc/**', () => {})
    await page.reload()
    await showing(page, 'Loading…')
    return page
  },
  async list(open) {
    const page = await open()
    await firstPage(page)
    return page
  },
  async selected(open) {
    const page = await open()
    await firstPage(page)
    for (const name of ['Rex', 'Tom']) {
      await page
        .getByRole('checkbox', { name: `Select ${name}, id ` })
        .first()
        .check()
    }
    await page.getByRole('region', { name: '2 selected' }).waitFor()
    return page
  },
  async 'page-of-100'(open) {
    const page = await open({ path: '/?size=100' })
    await showing(page, '1–100 of 304')
    return page
  },
  async filtered(open) {
    const page = await open()
    await counting(page, 'All 304')
    await choose(page, 'Sold')
    await firstRow(page, 'Sold')
    return page
  },
  async 'last-page'(open) {
    const page = await open({ path: '/?cursor=290' })
    await showing(page, '291–304 of 304')
    return page
  },
  async names(open) {
    const page = await open({ path: '/?cursor=295&pet=302' })
    await showing(page, '296–304 of 304')
    await petPanel(page).waitFor()
    return page
  },
  async 'past-end'(open) {
    const page = await open({ path: '/?cursor=304' })
    await page.getByRole('heading', { name: 'No more pets' }).waitFor()
    return page
  },
  async empty(open) {
    const page = await open({ of: 'empty' })
    await page.getByRole('heading', { name: 'No pets yet' }).waitFor()
    return page
  },
  async 'empty-filter'(open) {
    const page = await open({ of: 'empty', path: '/?status=pending' })
    await page.getByRole('heading', { name: 'No pending pets' }).waitFor()
    return page
  },
  async pet(open) {
    const page = await open({ path: '/?pet=5' })
    await firstPage(page)
    await page.getByText('Not changed yet.').waitFor()
    return page
  },
  async 'pet-missing'(open) {
    const page = await open({ path: '/?pet=9999' })
    await page.getByText('No pet has the id 9999').waitFor()
    return page
  },
  async add(open) {
    const page = await open()
    await firstPage(page)
    await addButton(page).click()
    await page.getByRole('textbox', { name: 'Category' }).waitFor()
    return page
  },
  async 'add-invalid'(open) {
    const page = await open()
    await enterPet(page, '', 'seven')
    await submitButton(page).click()
    await page.getByText('The name is missing.').waitFor()
    return page
  },
  async 'add-uncertain'(open) {
    const page = await open()
    await enterPet(page, 'Rex', '7')
    await page.route('**/trpc/pets.create', (route) => route.abort())
    await submitButton(page).click()
    await page.getByText('The pet may not have been added').waitFor()
    return page
  },
  async 'just-added'(open) {
    const page = await open()
    await firstPage(page)
    // Without a change of the store, which other tests share.
    await page.route('**/trpc/pets.create', (route) =>
      route.fulfill({
        json: {
          result: {
            data: {
              json: { id: '305', name: 'Momo', categoryId: '7', status: 'available' },
              meta: { values: { id: ['bigint'], categoryId: ['bigint'] } },
            },
          },
        },
      }),
    )
    await enterPet(page, 'Momo', '7')
    await submitButton(page).click()
    await justAdded(page).getByRole('link', { name: 'Momo' }).waitFor()
    return page
  },
  async search(open) {
    const page = await open()
    await searchField(page).fill('lu')
    await firstRow(page, 'Luna')
    return page
  },
  async 'search-empty'(open) {
    const page = await open({ path: '/?search=zoe' })
    await page.getByRole('heading', { name: 'No pets found' }).waitFor()
    return page
  },
  async newest(open) {
    const page = await open({ path: '/?order=newest' })
    await firstPage(page)
    return page
  },
  async requests(open) {
    const page = await open()
    await firstPage(page)
    const button = page.getByRole('button', { name: 'Requests' })
    // A phone has it in the account menu.
    if ((await button.count()) === 0) await account(page).click()
    await button.click()
    await page.getByRole('button', { name: 'Copy the command' }).waitFor()
    return page
  },
  async help(open) {
    const page = await open()
    await firstPage(page)
    // A phone has no button for it.
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    return page
  },
  async tooltip(open) {
    const page = await open()
    await firstPage(page)
    await account(page).focus()
    await page.keyboard.press('Shift+Tab')
    await page.locator('[data-tabbed] [data-hint]:focus').waitFor()
    return page
  },
  async 'out-of-date'(open) {
    const page = await open()
    await firstPage(page)
    await page.route('**/trpc/**', (route) => route.abort())
    await page.getByText('The service cannot be reached. Trying again…').waitFor()
    return page
  },
  async unreachable(open) {
    const page = await open()
    await page.route('**/trpc/**', (route) => route.abort())
    await page.reload()
    await page.getByText('The service cannot be reached. Trying again…').waitFor()
    return page
  },
  async 'rate-limited'(open) {
    const page = await open()
    await page.route('**/trpc/**', fulfill(429, 'More than 5 calls in 60 s.', { 'retry-after': '42' }))
    await page.reload()
    await page.getByText(/Too many requests\. Trying again in \d+ s/).waitFor()
    return page
  },
  async failed(open) {
    const page = await open()
    const requestId = { 'x-request-id': '4f1c2a5e-2f43-4f4e-8a35-7f6f0f6f9d11' }
    await page.route('**/trpc/**', fulfill(500, 'The service failed.', requestId))
    await page.reload()
    await page.getByText(requestId['x-request-id']).waitFor()
    await page.getByRole('button', { name: 'Copy the request id' }).waitFor()
    return page
  },
  async 'unknown-path'(open) {
    const page = await open()
    await page.goto(new URL('/shop', page.url()).href)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    return page
  },
}

/** The states in every variant. The others are in light colors on a desktop and in dark ones on a phone. */
const inEveryVariant = ['list', 'names', 'pet', 'selected']

const cases = Object.keys(states).flatMap((state) =>
  Object.keys(variants)
    .filter((variant) => inEveryVariant.includes(state) || variant === 'light-1440' || variant === 'dark-360')
    .map((variant) => [state, variant] as [keyof typeof states, keyof typeof variants]),
)

const stores: Record<'full' | 'empty', Console | undefined> = { full: undefined, empty: undefined }
const cleanings: Parameters<AtEnd>[0][] = []

beforeAll(async () => {
  const atEnd: AtEnd = (clean) => cleanings.push(clean)
  const full = await startConsole({ atEnd })
  for (const pet of pets()) await full.store.pets.create(pet)
  Object.assign(stores, { full, empty: await startConsole({ atEnd }) })
})
afterAll(async () => {
  for (const clean of cleanings.toReversed()) await clean()
})

test.for(cases)('the state %s in the variant %s has no violations of axe-core', async ([state, variant], { visit }) => {
  const page = await states[state]?.(async ({ path = '/', of = 'full', isSignedIn = true } = {}) => {
    const { url, key } = stores[of] ?? {}
    return visit(`${url}${path}`, { ...variants[variant], ...(isSignedIn && key !== undefined && { key }) })
  })
  if (page) await inspect(page, `${state}-${variant}`)
})

/** Waits for the first page, which has as many rows as the window has room for. */
function firstPage(page: Page) {
  return page
    .getByRole('status')
    .getByText(/^1–\d+ of 304$/)
    .waitFor()
}

/** Waits for the rows themselves: those of the former page are dimmed until then. */
function firstRow(page: Page, text: string) {
  return page.locator('.item-table[aria-busy="false"] tbody tr').first().filter({ hasText: text }).waitFor()
}

/** The panel of a pet: beside the list, or a sheet above it. */
function petPanel(page: Page) {
  return panel(page).or(page.getByRole('dialog')).getByRole('definition').first()
}

/** A response of the RPC adapter with an error. */
function fulfill(status: number, message: string, headers: Record<string, string> = {}) {
  return (route: Route) => {
    const calls = new URL(route.request().url()).pathname.split(',')
    const data = { code: 'INTERNAL_SERVER_ERROR', httpStatus: status, status, message }
    return route.fulfill({
      status,
      headers,
      json: calls.map(() => ({ error: { json: { message, code: -32603, data } } })),
    })
  }
}

function pets() {
  const names = ['Rex', 'Minka', 'Tom', 'Bello', 'Luna', 'Coco', 'Nala', 'Simba', 'Felix', 'Paula', 'Kiwi']
  const statuses = ['available', 'available', 'pending', 'sold'] as const
  const usual = Array.from({ length: 300 }, (_, pet) => ({
    name: String(names[pet % names.length]),
    categoryId: BigInt(1 + (pet % 9)),
    status: statuses[(pet * 5) % 4] ?? 'available',
  }))
  // These are difficult to show.
  return [
    ...usual,
    { name: 'Sir Barks-a-Lot of the Most Noble House of Golden Retrievers '.repeat(4).trim(), categoryId: 7n },
    { name: '  two spaces before, one after ', categoryId: 2n ** 63n - 1n },
    { name: 'فلافي القطة الصغيرة', categoryId: -(2n ** 63n) },
    { name: '小白 🐕‍🦺', categoryId: 9007199254740993n },
  ].map((pet) => ({ status: 'available' as const, ...pet }))
}
