import superjson from 'superjson'
import { expect } from 'vitest'
import { justAdded, searchField, showing } from '../../../engine/console/test/browser/list.ts'
import { inspect } from '../../../engine/console/test/browser/page.ts'
import { addButton, panel, submitButton } from '../../../engine/console/test/browser/panels.ts'
import { account, openRequests } from '../../../engine/console/test/browser/session.ts'
import type { BrowserContextOptions, Page, Route } from '../../../engine/console/test/browser/visit.ts'
import { share } from '../../../engine/test/support/share.ts'
import { addPet, enterPet, startConsole, test } from '../console.ts'

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

const requestId = '4f1c2a5e-2f43-4f4e-8a35-7f6f0f6f9d11'

interface OpenOptions {
  path?: string
  /** The store of the service. */
  of?: 'full' | 'empty'
  isSignedIn?: boolean
}

type State = [options: OpenOptions, reach: (page: Page) => Promise<unknown>]

/** How the console gets into each of its states. The screenshots have the same names. */
const states: Record<string, State> = {
  'sign-in': [{ isSignedIn: false }, (page) => heading(page, 'Sign in')],
  'sign-in-invalid': [
    { isSignedIn: false },
    async (page) => {
      await page.getByLabel('API key').fill('pet_wrong')
      await page.keyboard.press('Enter')
      await page.getByText('This key is not valid.').waitFor()
    },
  ],
  'signed-out': [
    { of: 'empty' },
    async (page) => {
      await heading(page, 'No pets yet')
      await page.route('**/trpc/**', fulfill(401, 'The API key is not valid.'))
      await page.getByText('You were signed out').waitFor()
    },
  ],
  loading: [
    { of: 'empty' },
    async (page) => {
      await heading(page, 'No pets yet')
      await page.route('**/trpc/**', () => {})
      await page.reload()
      await showing(page, 'Loading…')
    },
  ],
  list: [{}, firstPage],
  selected: onList(async (page) => {
    for (const name of ['Rex', 'Tom']) {
      await page
        .getByRole('checkbox', { name: `Select ${name}`, exact: true })
        .first()
        .check()
    }
    await page.getByRole('region', { name: '2 selected' }).waitFor()
  }),
  names: [
    { path: '/?cursor=295&pet=302' },
    async (page) => {
      await showing(page, '296–304 of 304')
      await petPanel(page).waitFor()
    },
  ],
  'past-end': [{ path: '/?cursor=304' }, (page) => heading(page, 'No more pets')],
  empty: [{ of: 'empty' }, (page) => heading(page, 'No pets yet')],
  'empty-filter': [{ of: 'empty', path: '/?status=pending' }, (page) => heading(page, 'No pending pets')],
  pet: [
    { path: '/?pet=5' },
    async (page) => {
      await firstPage(page)
      await page.getByText('Not changed yet.').waitFor()
    },
  ],
  'pet-missing': [{ path: '/?pet=9999' }, (page) => page.getByText('No pet has the id 9999').waitFor()],
  add: onList(async (page) => {
    await addButton(page).click()
    await page.getByRole('textbox', { name: 'Category' }).waitFor()
  }),
  'add-invalid': onList(async (page) => {
    await addPet(page, '', 'seven')
    await page.getByText('The name is missing.').waitFor()
  }),
  'add-uncertain': onList(async (page) => {
    await enterPet(page, 'Rex', '7')
    await page.route('**/trpc/pets.create', (route) => route.abort())
    await submitButton(page).click()
    await page.getByText('The pet may not have been added').waitFor()
  }),
  'just-added': onList(async (page) => {
    // Without a change of the store, which other tests share.
    const data = superjson.serialize({ id: 305n, name: 'Momo', categoryId: 7n, status: 'available' })
    await page.route('**/trpc/pets.create', (route) => route.fulfill({ json: { result: { data } } }))
    await addPet(page, 'Momo', '7')
    await justAdded(page).getByRole('link', { name: 'Momo' }).waitFor()
  }),
  search: onList(async (page) => {
    await searchField(page).fill('lu')
    await firstRow(page, 'Luna')
  }),
  'search-empty': [{ path: '/?search=zoe' }, (page) => heading(page, 'No pets found')],
  newest: [{ path: '/?order=newest' }, firstPage],
  requests: onList(async (page) => {
    await openRequests(page)
    await page.getByRole('button', { name: 'Copy the command' }).waitFor()
  }),
  help: onList(async (page) => {
    // A phone has no button for it.
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
  }),
  tooltip: onList(async (page) => {
    await account(page).press('Shift+Tab')
    await page.keyboard.press('Tab')
    await page.locator('[data-tabbed] [data-hint]:focus').waitFor()
  }),
  'out-of-date': onList(async (page) => {
    await page.route('**/trpc/**', (route) => route.abort())
    await page.getByText('The service cannot be reached. Trying again…').waitFor()
  }),
  unreachable: failing((route) => route.abort(), 'The service cannot be reached. Trying again…'),
  'rate-limited': failing(
    fulfill(429, 'More than 5 calls in 60 s.', { 'retry-after': '42' }),
    /Too many requests\. Trying again in \d+ s/,
  ),
  failed: failing(fulfill(500, 'The service failed.', { 'x-request-id': requestId }), requestId),
  'unknown-path': [{ path: '/shop' }, (page) => heading(page, 'Page not found')],
}

/** The states in every variant. The others are in light colors on a desktop and in dark ones on a phone. */
const inEveryVariant = ['list', 'names', 'pet', 'selected']

const cases = Object.keys(states).flatMap((state) =>
  Object.keys(variants)
    .filter((variant) => inEveryVariant.includes(state) || variant === 'light-1440' || variant === 'dark-360')
    .map((variant) => [state, variant] as [keyof typeof states, keyof typeof variants]),
)

const consoles = share(async (atEnd) => {
  const full = await startConsole({ atEnd })
  for (const pet of pets()) await full.store.pets.create(pet)
  return { full, empty: await startConsole({ atEnd }) }
})

test.for(cases)('the state %s in the variant %s has no violations of axe-core', async ([state, variant], { visit }) => {
  const [{ path = '/', of = 'full', isSignedIn = true }, reach] = states[state] ?? expect.unreachable()
  const { url, key } = consoles()[of]
  const page = await visit(`${url}${path}`, { ...variants[variant], ...(isSignedIn && { key }) })
  await reach(page)
  await inspect(page, `${state}-${variant}`)
})

/** A state that is reached from the list. */
function onList(reachFrom: (page: Page) => Promise<unknown>): State {
  return [
    {},
    async (page) => {
      await firstPage(page)
      await reachFrom(page)
    },
  ]
}

function heading(page: Page, name: string): Promise<void> {
  return page.getByRole('heading', { name }).waitFor()
}

/** A page that is loaded while the service fails. */
function failing(handle: (route: Route) => Promise<void>, text: string | RegExp): State {
  async function reach(page: Page) {
    await page.route('**/trpc/**', handle)
    await page.reload()
    await page.getByText(text).waitFor()
  }
  return [{}, reach]
}

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
