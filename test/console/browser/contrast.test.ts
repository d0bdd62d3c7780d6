import { expect } from 'vitest'
import { counting, justAdded, searchField } from '../../../engine/console/test/browser/list.ts'
import { boxOf } from '../../../engine/console/test/browser/page.ts'
import { openBulkAdd, panel, submitButton } from '../../../engine/console/test/browser/panels.ts'
import { account } from '../../../engine/console/test/browser/session.ts'
import type { Locator, Page, Visit } from '../../../engine/console/test/browser/visit.ts'
import { addPets } from '../../support/petstore.ts'
import { addPet, startConsole, test } from '../console.ts'

// Measured on screenshots, because axe-core judges no pseudo-element, gradient, mark or border.

/** The least contrast of a text, and of the border or mark of a control (WCAG 2.2, 1.4.3 and 1.4.11). */
const least = { text: 4.5, mark: 3 }

interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** What is measured: by default, the whole element. */
type Probe = [kind: keyof typeof least, element: Locator, areaOf?: (box: Box) => Box]

const schemes = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  forced: { forcedColors: 'active' },
} as const

const scale = 3

test.for(['light', 'dark', 'forced'] as const)(
  'texts and controls have enough contrast in %s colors',
  async (scheme, { visit }) => {
    const { url, key, store, rpc } = await startConsole()
    await addPets(store, 22)
    await store.pets.create({ name: ' Rex ', categoryId: 7n, status: 'pending' })
    await store.pets.create({ name: 'Tom', categoryId: 7n, status: 'sold' })
    const open = (path: string, options: Parameters<Visit>[1] = {}) =>
      visit(url + path, { ...schemes[scheme], reducedMotion: 'reduce', deviceScaleFactor: scale, ...options })

    const page = await open('/?order=newest', { key, viewport: { width: 1_440, height: 742 } })
    await counting(page, 'All 24')
    const row = (text: string) => page.locator('tbody tr', { hasText: text }).first()
    const box = (text: string) => row(text).getByRole('checkbox')
    await account(page).press('Shift+Tab')
    const focused = page.locator('[data-hint]:focus')
    // The pointer shows its box.
    await row('Tom').hover()
    const found: Awaited<ReturnType<typeof contrastsOf>> = {}
    const measure = async (...args: Parameters<typeof contrastsOf>) => Object.assign(found, await contrastsOf(...args))
    await measure(page, {
      ...cellsOf(row('Tom'), 'a sold pet'),
      ...cellsOf(row('Rex'), 'a pending pet'),
      ...cellsOf(row('pet 9'), 'the last row'),
      'the dot of a space': ['mark', row('Rex').locator('.text-space').first()],
      'the box of a row': ['mark', box('Tom'), leftEdge],
      'a header': ['text', page.getByRole('columnheader', { name: 'Name' })],
      'the order': ['text', page.getByRole('columnheader').getByRole('button', { name: 'Id' })],
      'the placeholder of the search': ['text', searchField(page), between(34, 150)],
      'the border of the search': ['mark', searchField(page), leftEdge],
      'the key of the search': ['text', page.locator('.search kbd'), inside],
      'a filter': ['text', page.locator('.chip > span:not(.choice-dot)').nth(2)],
      'the count of a filter': ['text', page.locator('.chip-count').nth(1)],
      'the chosen filter': ['mark', page.locator('.chip').first(), leftEdge],
      'the range': ['text', page.locator('.list-range')],
      'the border of the page size': ['mark', page.getByRole('combobox', { name: 'Pets per page' }), leftEdge],
      'the focus ring': ['mark', focused, leftEdge],
      'a hint': ['text', focused, ({ x, y, height }) => ({ x, y: y + height + 10, width: 30, height: 16 })],
    })

    await box('Tom').check()
    await row('Rex').getByRole('link').click()
    await panel(page).getByRole('definition').first().waitFor()
    await page.clock.install()
    await rpc.pets.create.mutate({ name: 'Zoe', categoryId: 7n })
    await page.locator('[data-changed]').waitFor()
    // The mark would disappear after some time.
    await page.clock.pauseAt(Date.now() + 1_000)
    await measure(page, {
      ...cellsOf(row('Tom'), 'a selected pet'),
      'the box of a selected pet': ['mark', box('Tom'), leftEdge],
      ...cellsOf(row('Rex'), 'the open pet'),
      'the mark of the open pet': ['mark', row('Rex'), leftEnd],
      ...cellsOf(row('Zoe'), 'a changed pet'),
      'the mark of a changed pet': ['mark', row('Zoe'), leftEnd],
      'the name of a value': ['text', panel(page).getByRole('term').first()],
      'the button that edits': ['mark', panel(page).getByRole('button', { name: 'Edit the category' })],
    })
    await page.clock.resume()

    await addPet(page, 'Momo', 'seven')
    const field = page.getByRole('textbox', { name: 'Category' })
    await measure(page, {
      'the border of a field': ['mark', page.getByRole('textbox', { name: 'Name' }), leftEdge],
      'the border of an invalid field': ['mark', field, leftEdge],
      'the message at a field': ['text', page.getByText('The category is not a whole number.')],
      'the description of a field': ['text', page.getByText('A whole number, such as 7.')],
      'the border of a select': ['mark', page.locator('form select'), leftEdge],
      'the box of the form': ['mark', page.locator('form input[type=checkbox]'), leftEdge],
    })
    await field.fill('7')
    await submitButton(page).click()
    await justAdded(page).waitFor()
    await measure(page, { 'the link to an added pet': ['text', justAdded(page).getByRole('link')] })
    const sheet = await openBulkAdd(page)
    const source = sheet.getByRole('textbox')
    await measure(page, {
      'the placeholder of the import': ['text', source, between(8, 200)],
      'the border of the import': ['mark', source, leftEdge],
    })

    const phone = await open('/', { key, viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
    const first = phone.locator('tbody tr').first()
    await counting(phone, 'All 26')
    await phone.route('**/trpc/**', (route) => route.abort())
    await phone.locator('.list-out-of-date').waitFor()
    await measure(phone, {
      'the label of a value on a phone': ['text', first.locator('[data-kind=integer]')],
      'the id on a phone': ['text', first.locator('[data-kind=id]')],
      'the label of the box of the page': ['text', phone.locator('thead label'), between(40, 200)],
      'a list that is out of date': ['text', phone.locator('.list-out-of-date [role=status]')],
    })

    const signIn = await open('/')
    const keyField = signIn.getByLabel('API key', { exact: true })
    await keyField.waitFor()
    await signIn.getByRole('heading').click()
    await measure(signIn, {
      'the placeholder of the key': ['text', keyField, between(8, 60)],
      'the border of the key': ['mark', keyField, leftEdge],
      'the button that shows the key': ['mark', signIn.getByRole('button', { name: 'Show the key' })],
      'the box of the sign-in': ['mark', signIn.getByRole('checkbox'), leftEdge],
      'the note of the sign-in': ['text', signIn.locator('#remember-note')],
    })

    expect(Object.entries(found).filter(([, { kind, contrast }]) => contrast < least[kind])).toEqual([])
  },
)

function cellsOf(row: Locator, name: string): Record<string, Probe> {
  return {
    [`the name of ${name}`]: ['text', row.locator('[data-title] .text'), between(0, 60)],
    [`the id of ${name}`]: ['text', row.locator('[data-kind=id]')],
    [`the status of ${name}`]: ['text', row.locator('.choice'), between(16, 80)],
    [`the chevron of ${name}`]: ['mark', row.locator('.choice-button > .icon')],
  }
}

function between(from: number, to: number) {
  return ({ x, y, width, height }: Box): Box => ({
    x: x + from,
    y: y + 4,
    width: Math.min(to, width) - from,
    height: height - 8,
  })
}

/** A border at the left side, with what is on both sides of it. */
function leftEdge({ x, y, height }: Box): Box {
  return { x: x - 4, y: y + height / 2 - 2, width: 10, height: 4 }
}

/** A mark inside of the left side. */
function leftEnd({ x, y, height }: Box): Box {
  return { x, y: y + height / 2 - 2, width: 8, height: 4 }
}

function inside({ x, y, width, height }: Box): Box {
  return { x: x + 3, y: y + 3, width: width - 6, height: height - 6 }
}

/** The contrast between the most frequent color of each area, and the one that differs most from it. */
async function contrastsOf(page: Page, probes: Record<string, Probe>) {
  const areas = await Promise.all(
    Object.values(probes).map(async ([, element, areaOf = (box: Box) => box]) => {
      const box = await boxOf(element)
      return areaOf(box)
    }),
  )
  const screenshot = await page.screenshot({ animations: 'disabled' })
  const canvas = (await page.context().browser()?.newPage()) ?? page
  const contrasts = await canvas.evaluate(measureContrasts, { screenshot: screenshot.toString('base64'), areas, scale })
  await canvas.close()
  return Object.fromEntries(
    Object.entries(probes).map(([name, [kind]], index) => [name, { kind, contrast: contrasts[index] ?? 0 }]),
  )
}

/** Runs in the browser. */
async function measureContrasts({
  screenshot,
  areas,
  scale,
}: {
  screenshot: string
  areas: Box[]
  scale: number
}): Promise<number[]> {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${screenshot}`)).blob())
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
  if (!context) throw new Error('There is no canvas.')
  context.drawImage(image, 0, 0)

  function colorsOf({ x, y, width, height }: Box): [color: string, pixels: number][] {
    const { data } = context?.getImageData(x * scale, y * scale, width * scale, height * scale) ?? { data: [] }
    const pixels = new Map<string, number>()
    for (let index = 0; index < data.length; index += 4) {
      const color = data.slice(index, index + 3).join()
      pixels.set(color, (pixels.get(color) ?? 0) + 1)
    }
    return [...pixels].sort(([, one], [, other]) => other - one)
  }

  function luminanceOf(color: string): number {
    const [red = 0, green = 0, blue = 0] = color
      .split(',')
      .map((value) => Number(value) / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }

  function contrastOf(one: string, other: string): number {
    const [light = 0, dark = 0] = [luminanceOf(one), luminanceOf(other)].sort().reverse()
    return Math.round(((light + 0.05) / (dark + 0.05)) * 100) / 100
  }

  return areas.map((area) => {
    const [[background = ''] = [], ...others] = colorsOf(area)
    // Pixels at the edges of letters have colors between.
    return Math.max(0, ...others.filter(([, pixels]) => pixels >= 4).map(([color]) => contrastOf(background, color)))
  })
}
