import { expect } from 'vitest'
import { choiceOf, counting, justAdded, searchField, showing } from '../../../engine/console/test/browser/list.ts'
import {
  beDeveloper,
  boxOf,
  closeByEscape,
  colorAt,
  holdRequests,
  inspect,
  isFocused,
  press,
  waitForAnimations,
} from '../../../engine/console/test/browser/page.ts'
import { openBulkAdd, panel } from '../../../engine/console/test/browser/panels.ts'
import type { Locator, Page } from '../../../engine/console/test/browser/visit.ts'
import { addPet, test } from '../console.ts'

const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

test('a small phone has room for wide letters, and for a name beside a long category', async ({ open }) => {
  const { page } = await open(0, { viewport: { width: 320, height: 700 }, bypassCSP: true })
  await addPet(page, 'Rex the dog of the house', '-9223372036854775807')
  expect((await boxOf(page.locator('.item-list tbody a'))).width).toBeGreaterThan(100)
  // WCAG 2.2, success criterion 1.4.12.
  await page.addStyleTag({
    content: '* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }',
  })
  const { x, width } = await boxOf(justAdded(page).getByRole('button', { name: 'Dismiss' }))
  expect(x + width).toBeLessThan(320)
  await inspect(page, 'wide-letters')
})

test('the rows of a phone are as high as those that it shows while they are loaded', async ({ open }) => {
  const { page } = await open(2, phone)
  await showing(page, '1–2 of 2')
  const row = page.locator('.item-list tbody tr').first()
  const { height } = await boxOf(row)
  const release = await holdRequests(page)
  const reloading = page.reload()
  await page.locator('.item-skeleton').first().waitFor()
  expect(Math.abs((await boxOf(row)).height - height)).toBeLessThan(2)
  release()
  await reloading
})

test('a phone has the tools in one menu, which leaves the screen to the list', async ({ open }) => {
  const { page } = await open(5, { ...phone, isLoaded: true })
  expect((await boxOf(page.locator('.item-list tbody tr').first())).y).toBeLessThan(215)
  const more = page.getByRole('button', { name: 'More' })
  const tools = page.locator('.tools-menu')
  expect(await tools.isVisible()).toBe(false)
  await more.tap()
  for (const label of ['Changes', 'Export', 'Add many']) await tools.getByText(label, { exact: true }).waitFor()
  expect(await missed(page, '.tools-menu')).toEqual([])
  await inspect(page, 'tools-360')
  await page.keyboard.press('Escape')
  expect(await tools.isVisible()).toBe(false)

  // By keys, as with a keyboard beside a tablet.
  await more.press('Enter')
  await press(page, 'Tab', 'Tab')
  expect(await isFocused(tools.getByRole('button', { name: 'Export' }))).toBe(true)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Export pets' }).waitFor()
  expect(await tools.isVisible()).toBe(false)
  await closeByEscape(page.getByRole('dialog'))
  expect(await isFocused(more)).toBe(true)
})

test('the bar of the selection fits every width, also of an empty list', async ({ open }) => {
  const { page } = await open(45, { ...phone, viewport: { width: 900, height: 740 } })
  await showing(page, '1–20 of 45')
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  const bar = page.locator('.selection-bar')
  for (const width of [900, 768, 700, 640, 360, 320]) {
    await page.setViewportSize({ width, height: 740 })
    const cut = () =>
      bar
        .locator('.number')
        .evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerHTML))
    // The words for a phone come a moment after the width.
    await expect.poll(cut, { message: `${width}` }).toEqual([])
    for (const button of await bar.getByRole('button').all()) {
      const { x, width: size } = await boxOf(button)
      expect(x + size, `${width}`).toBeLessThanOrEqual(width)
    }
    if (width > 320) expect(await missed(page, '.selection-bar'), `${width}`).toEqual([])
  }
  await searchField(page).fill('qqqq')
  await page.getByRole('heading', { name: /No pet/ }).waitFor()
  await bar.waitFor()
  await inspect(page, 'selection-of-empty-list')
})

test('a notice in one line covers neither the last rows, nor the footer of the list, nor a panel', async ({
  start,
}) => {
  const { show } = await start(45)
  const beside = { path: '/?pet=2', viewport: { width: 1024, height: 800 } }
  for (const options of [{}, { viewport: { width: 768, height: 800 } }, beside, phone]) {
    const page = await show({ ...options, isLoaded: true })
    await choiceOf(page, 'pet 1', /^Status of /).click()
    await page
      .getByRole('menuitemradio', { name: /Pending|Sold/, checked: false })
      .first()
      .click()
    const notice = page.locator('.edit-notice')
    await notice.waitFor()
    await page.locator('.item-list tbody tr').last().scrollIntoViewIfNeeded()
    await page.evaluate(() => scrollTo({ top: document.body.scrollHeight }))
    await notice.evaluate((each) => each.dispatchEvent(new PointerEvent('pointerover', { bubbles: true })))
    const shown = await boxOf(notice)
    const [text, close] = [
      await boxOf(notice.locator('p')),
      await boxOf(notice.getByRole('button', { name: 'Dismiss' })),
    ]
    expect(close.y, `${options.viewport?.width}`).toBeLessThan(text.y + text.height)
    const parts = page.locator('.item-list tbody tr:last-child, .list-range, .page-size, .pager, .panel')
    for (const each of await parts.filter({ visible: true }).all())
      expect(overlap(shown, await boxOf(each)), `${options.viewport?.width}: ${each}`).toBe(false)
    await inspect(page, `notice-${page.viewportSize()?.width}`)
  }
})

type Box = Awaited<ReturnType<typeof boxOf>>

/** Whether a box covers more than a border of another one. */
function overlap(one: Box, other: Box): boolean {
  const isBeside = one.x >= other.x + other.width || other.x >= one.x + one.width
  return !isBeside && one.y < other.y + other.height - 1 && other.y < one.y + one.height - 1
}

test('a pet that is not saved has a sign, and its notice covers neither the footer, nor a checkbox, nor a panel', async ({
  open,
}) => {
  for (const [viewport, shownPet, name] of [
    [{ width: 1280, height: 800 }, '', 'Tom'],
    [{ width: 1024, height: 800 }, '&pet=3', 'W'.repeat(60)],
    [phone.viewport, '', 'Tom'],
  ] as const) {
    const pets = ['Rex', name].map((each) => ({ name: each, categoryId: 7n, status: 'available' as const }))
    const { page } = await open([...pets, 43], { path: `/?status=available${shownPet}`, viewport, isLoaded: true })
    const [first, second] = [page.getByRole('link', { name: 'Rex' }), page.getByRole('link', { name })]
    await setStatus(page, 'Rex', 'Sold')
    await page.locator('tr[data-left]', { has: first }).waitFor()
    await page.route('**/trpc/**', (route) => route.abort())
    await setStatus(page, name, 'Sold')
    await page.getByText('Out of date, loaded').waitFor()
    const notice = page.locator('.edit-notice[data-failed]')
    const sign = (link: Locator) => link.evaluate((each) => getComputedStyle(each, '::before').content)
    expect([await sign(first), await sign(second)]).toEqual(['none', '"Not saved yet" / ""'])
    const shown = await boxOf(notice)
    expect(shown.y + shown.height).toBeLessThan((await boxOf(page.locator('.list-footer'))).y)
    const discard = await boxOf(notice.getByRole('button', { name: 'Discard' }))
    if (name === 'Tom') expect(shown.x + shown.width - discard.x - discard.width).toBeLessThan(16)
    if (viewport.width > 360) {
      const checkbox = await boxOf(page.locator('.item-list tbody input').last())
      expect(shown.x).toBeGreaterThan(checkbox.x + checkbox.width)
    }
    for (const beside of await page.locator('.panel').filter({ visible: true }).all())
      expect(overlap(shown, await boxOf(beside))).toBe(false)
    await page.locator('.item-list tbody tr').last().scrollIntoViewIfNeeded()
    await page.evaluate(() => scrollTo({ top: document.body.scrollHeight }))
    await page.locator('.item-list').evaluate((each) => each.scrollTo({ top: each.scrollHeight }))
    expect(overlap(shown, await boxOf(page.locator('.item-list tbody tr').last()))).toBe(false)
    await inspect(page, `unsaved-${viewport.width}`)
  }
})

/** Chooses a status in the menu of a row. */
async function setStatus(page: Page, name: string, status: string): Promise<void> {
  await choiceOf(page, name, /^Status of /).click()
  await page.getByRole('menuitemradio', { name: status }).click()
}

test('the message about an empty list that is out of date fills its footer', async ({ open }) => {
  const { page } = await open(0, { isLoaded: true })
  await page.getByRole('heading', { name: 'No pets' }).waitFor()
  await page.route('**/trpc/**', (route) => route.abort())
  const message = await boxOf(page.locator('.list-out-of-date'))
  const footer = await boxOf(page.locator('.list-footer'))
  expect(message.y - footer.y).toBeLessThan(16)
  await inspect(page, 'empty-out-of-date')
})

test.for([
  ['a phone', phone],
  ['a window of 1280 px', { viewport: { width: 1_280, height: 800 } }],
  ['a window of 1920 px', { viewport: { width: 1_920, height: 800 } }],
] as const)(
  'on %s, nothing moves when something is searched, selected, changed or filtered',
  async ([, size], { open }) => {
    const { page } = await open(25, { ...size, isLoaded: true, permissions: ['clipboard-read', 'clipboard-write'] })
    await counting(page, 'All 25')
    const fixed = page.locator('.header, .search input, .chip, .tools .button, .list-footer, .selection-bar > button')
    const placesOf = (parts: Locator) =>
      parts.evaluateAll((all) => all.map((each) => JSON.stringify(each.getBoundingClientRect())))
    const before = await placesOf(fixed.or(page.locator('tbody tr')))
    expect(before.length).toBeGreaterThan(20)
    const expectSamePlaces = async () =>
      expect(await placesOf(fixed.or(page.locator('tbody tr')))).toEqual(expect.arrayContaining(before))
    await searchField(page).fill('pet')
    await page.locator('mark').first().waitFor()
    await expectSamePlaces()
    await page.getByRole('button', { name: 'Clear the search' }).click()
    await page.locator('mark').first().waitFor({ state: 'hidden' })
    await page.locator('tbody').getByRole('checkbox').first().check()
    await page.getByRole('region', { name: '1 selected' }).waitFor()
    await expectSamePlaces()
    const selected = await placesOf(fixed)
    const copy = page.locator('.selection-bar > .copy button, .selection-bar > button.copy').filter({ visible: true })
    if ((await copy.count()) > 0) {
      await copy.click()
      await page.getByRole('menuitem', { name: 'JSON' }).click()
      await page.locator('.selection-bar').getByRole('button', { name: 'Copied' }).waitFor()
      expect(await placesOf(fixed)).toEqual(selected)
    }
    await choiceOf(page, 'pet 2', /^Status of /).click()
    await page.getByRole('menuitemradio', { name: 'Sold' }).click()
    const notice = page.locator('.edit-notice')
    await notice.waitFor()
    expect(await placesOf(fixed)).toEqual(selected)
    await expectSamePlaces()
    const { y, height } = await boxOf(notice)
    const covered = await fixed.evaluateAll(
      (all, [top, bottom]) =>
        all.filter((each) => each.getBoundingClientRect().bottom > top && each.getBoundingClientRect().top < bottom),
      [y, y + height] as const,
    )
    if (size === phone) expect(covered).toEqual([])
  },
)

test('the icons of the button to copy have space beside them, also with a large text', async ({ open }) => {
  const { page } = await open(3)
  await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'))
  await page.getByRole('checkbox', { name: 'Select pet 1', exact: true }).check()
  const copy = page.getByRole('button', { name: 'Copy' })
  const button = await boxOf(copy)
  const [first, last] = [await boxOf(copy.locator('.icon').first()), await boxOf(copy.locator('.icon').last())]
  expect(first.x - button.x).toBeGreaterThan(4)
  expect(button.x + button.width - last.x - last.width).toBeGreaterThan(4)
})

test('a row that keys lead to is above the footer, also in a low window', async ({ open }) => {
  const { page } = await open(5, { viewport: { width: 320, height: 256 } })
  await showing(page, '1–5 of 5')
  await page.getByRole('link', { name: 'pet 1' }).focus()
  for (const name of ['pet 2', 'pet 3', 'pet 4']) {
    await page.keyboard.press('ArrowDown')
    expect(await isFocused(page.getByRole('link', { name }))).toBe(true)
    const row = await boxOf(page.getByRole('row', { name }))
    const { y } = await boxOf(page.locator('.list-footer'))
    expect(row.y + row.height, name).toBeLessThanOrEqual(y + 1)
  }
})

test('a menu ends at the edge of the list', async ({ start }) => {
  const { show } = await start(3)
  for (const options of [{ viewport: { width: 640, height: 400 } }, {}, phone]) {
    const page = await show(options)
    const list = await boxOf(page.locator('.surface'))
    const menu = page.getByRole('menu')
    await choiceOf(page, 'pet 2', /^Status of /).click()
    const status = await boxOf(menu)
    expect(status.x + status.width).toBeLessThanOrEqual(list.x + list.width)
    await page.keyboard.press('Escape')
    if (options === phone) continue
    await page.getByRole('checkbox', { name: 'Select pet 1', exact: true }).check()
    await page.getByRole('button', { name: 'Copy' }).click()
    const copy = await boxOf(menu)
    expect(copy.x + copy.width).toBeLessThanOrEqual(list.x + list.width)
  }
})

test('a finger hits each control within 44 px', async ({ start }) => {
  const { url, show } = await start(3)
  for (const viewport of [phone.viewport, { width: 1_024, height: 1_366 }]) {
    const page = await show({ ...phone, viewport, isLoaded: true })
    await showing(page, '1–3 of 3')
    expect(await missed(page)).toEqual([])
    await searchField(page).fill('pet')
    await showing(page, '1–3 of 3')
    expect(await missed(page)).toEqual([])
    const clear = await boxOf(page.getByRole('button', { name: 'Clear the search' }))
    expect([clear.width, clear.height]).toEqual([44, 44])
    await page.goto(`${url}/?pet=2`)
    await page.getByRole('heading', { level: 2, name: 'pet 2' }).waitFor()
    await page.getByText('Not changed yet.').waitFor()
    await beDeveloper(page)
    await page.getByText('Request and JSON').click()
    expect(await missed(page)).toEqual([])
    await page.goto(`${url}/?categoryId=7`)
    await page.getByRole('button', { name: 'Remove the filter Category 7' }).waitFor()
    expect(await missed(page)).toEqual([])
    await inspect(page, `chips-${viewport.width}`)
  }
})

test('a phone edits a field of 44 px where it is, and asks no finger to drop a file', async ({ open }) => {
  const { url, page } = await open(3, { path: '/?pet=2', ...phone })
  const category = page.getByRole('term').getByText('Category')
  const before = await boxOf(category)
  await page.getByRole('button', { name: 'Edit the name' }).tap()
  const name = page.getByRole('textbox', { name: 'Name' })
  const field = await boxOf(name)
  expect(field.height).toBeGreaterThanOrEqual(44)
  // In its row. The buttons are below it.
  expect(field.y).toBeLessThan(before.y - field.height / 2)
  await name.fill('')
  await name.press('Enter')
  await page.getByText('The name is missing.').waitFor()
  await inspect(page, 'edit-name-error-360')
  await page.getByRole('button', { name: 'Edit the category' }).tap()
  expect(await page.getByRole('textbox', { name: 'Category' }).getAttribute('inputmode')).toBe('numeric')

  await page.goto(url)
  const sheet = await openBulkAdd(page)
  expect((await boxOf(sheet.getByRole('button', { name: 'Choose a file' }))).height).toBeGreaterThanOrEqual(44)
  expect(await sheet.getByText('or drop one here').isVisible()).toBe(false)
  await sheet.getByRole('textbox', { name: 'Paste rows of a spreadsheet, CSV or JSON' }).fill('Rex,x,sold\nTom,8,sold')
  expect(await sheet.getByText('or drop one here').isVisible()).toBe(false)
  for (const value of [page.getByRole('textbox', { name: 'Category, row 1' }), page.getByText('8', { exact: true })]) {
    const cell = sheet.locator('td', { has: value })
    expect(await cell.evaluate((each) => getComputedStyle(each, '::before').content)).toContain('Category')
  }
  await inspect(page, 'add-many-360')
})

/** Expects the ring of a focused button on each of its sides. */
async function expectRing(button: Locator): Promise<void> {
  const { x, y, width, height } = await boxOf(button)
  for (const [left, top] of [
    [x + 1, y + height / 2],
    [x + width - 1, y + height / 2],
    [x + width / 2, y + 1],
    [x + width / 2, y + height - 1],
  ] as const)
    expect(await colorAt(button.page(), left, top), `${button} at ${left}, ${top}`).toEqual([79, 70, 229])
}

test('the statuses in the panel are in one line, also with somewhat longer words', async ({ open }) => {
  const { page } = await open(1, { path: '/?pet=1' })
  const statuses = page.locator('fieldset.choices button')
  await statuses.first().waitFor()
  await statuses.locator('.choice > :last-child').evaluateAll((words) => {
    for (const word of words) word.textContent += 'e'
  })
  const places = await Promise.all([0, 1, 2].map((index) => boxOf(statuses.nth(index))))
  expect(new Set(places.map(({ y }) => y)).size).toBe(1)
})

test('the filter stays in one line with longer words, and shows ten digits of a category', async ({ open }) => {
  const { page } = await open([3, { name: 'Rex', categoryId: 1_234_567_890n, status: 'sold' }])
  await counting(page, 'All 4')
  await page.getByRole('button', { name: 'Filter by Category 1234567890' }).click()
  const value = page.getByRole('button', { name: 'Remove the filter Category 1234567890' }).getByText('1234567890')
  expect(await value.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0)
  // As the translation of a browser has them.
  await page.locator('.chip > span:nth-last-child(2)').evaluateAll((words) => {
    for (const word of words) word.textContent = 'Odottaa vahvistusta'
  })
  const chips = await Promise.all((await page.locator('.chip').all()).map(boxOf))
  expect(new Set(chips.map(({ y }) => y)).size).toBe(1)
  const tools = await boxOf(page.locator('.tools'))
  expect(chips.some((chip) => overlap(chip, tools))).toBe(false)
})

test('a value is edited in its place, which moves nothing', async ({ open }) => {
  const { page } = await open(
    [{ name: 'Sir Barks-a-Lot of the House of Golden Retrievers', categoryId: 7n, status: 'sold' }],
    {
      path: '/?pet=1',
    },
  )
  const rows = page.locator('.item-details > div, .item-actions')
  const places = () => rows.evaluateAll((all) => all.map((each) => JSON.stringify(each.getBoundingClientRect())))
  for (const name of ['Name', 'Category']) {
    const edit = page.getByRole('button', { name: `Edit the ${name.toLowerCase()}` })
    await edit.waitFor()
    await waitForAnimations(page)
    const before = await places()
    await edit.click()
    expect(await isFocused(page.getByRole('textbox', { name, exact: true }))).toBe(true)
    expect(await places(), name).toEqual(before)
    await inspect(page, `edit-${name.toLowerCase()}`)
    await page.keyboard.press('Escape')
    expect(await isFocused(edit)).toBe(true)
  }
})

test('forced colors show which row is selected', async ({ open }) => {
  const { page } = await open(3, { forcedColors: 'active' })
  await page.getByRole('checkbox', { name: 'Select pet 2' }).check()
  const edges = ['pet 2', 'pet 3'].map(async (name) => {
    const { x, y, width } = await boxOf(page.getByRole('row', { name }))
    return colorAt(page, x + width / 2, y + 2)
  })
  const [selected, other] = await Promise.all(edges)
  expect(selected).not.toEqual(other)
})

test('the ring of a focused status is whole', async ({ open }) => {
  const { page } = await open([{ name: 'Rex', categoryId: 7n, status: 'pending' }], {
    path: '/?pet=1',
    deviceScaleFactor: 2,
  })
  const status = page.locator('fieldset.choices button')
  await status.first().waitFor()
  await page.getByRole('button', { name: 'Edit the category' }).focus()
  for (const index of [0, 1, 2]) {
    await page.keyboard.press('Tab')
    await expectRing(status.nth(index))
  }
})

test('the ring of the focused order is whole, beside its text', async ({ open }) => {
  const { page } = await open(3)
  const order = page.getByRole('button', { name: 'Id', exact: true })
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).press('Tab')
  expect(await isFocused(order)).toBe(true)
  await expectRing(order)
  const { x } = await boxOf(order)
  const text = await order.evaluate((each) => {
    const range = document.createRange()
    range.selectNodeContents(each)
    return range.getBoundingClientRect().x
  })
  expect(text - x).toBeGreaterThan(6)
})

test('a chosen filter has the color of a chosen status in the panel', async ({ open }) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await open([{ name: 'Rex', categoryId: 7n, status: 'pending' }], { path: '/?pet=1', colorScheme })
    const colors = [page.locator('.chip:has(:checked)'), page.locator('fieldset.choices [aria-pressed=true]')].map(
      (each) => each.evaluate((element) => getComputedStyle(element).backgroundColor),
    )
    const [filter, status] = await Promise.all(colors)
    expect(filter).toBe(status)
  }
})

/** The controls that a finger misses 21 px beside their middles. */
async function missed(page: Page, region = 'body'): Promise<string[]> {
  await waitForAnimations(page)
  return page.evaluate((selector) => {
    const above = document.querySelector('.sheet') ?? document.querySelector(selector) ?? document
    const controls = above.querySelectorAll<HTMLElement>('a:not(td a), button, summary, select, input')
    return Array.from(controls).flatMap((control) => {
      const target = control.closest('label') ?? control
      target.scrollIntoView({ block: 'center' })
      const { x, y, width, height } = target.getBoundingClientRect()
      const isHit = [
        [-21, 0],
        [21, 0],
        [0, -21],
        [0, 21],
      ].every(([right = 0, down = 0]) =>
        target.contains(document.elementFromPoint(x + width / 2 + right, y + height / 2 + down)),
      )
      return isHit || height < 2 || !control.checkVisibility()
        ? []
        : [`${target.outerHTML.slice(0, 90)} ${width} × ${height}`]
    })
  }, region)
}

test('the tools have labels, and the list a heading, where they fit', async ({ open }) => {
  const { page } = await open(25)
  await counting(page, 'Available 25')
  for (const [width, hasLabels] of [
    [1_366, true],
    [1_280, true],
    [1_200, false],
    // Above the chips.
    [768, true],
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    // In one line with the tools, it would take the place of a further filter.
    const { width: heading } = await boxOf(page.getByRole('heading', { name: 'Pets' }))
    expect(heading > 1, `${width}`).toBe(width === 1_366 || width === 768)
    for (const label of ['Changes', 'Export', 'Add many'])
      expect(await page.locator('.tools').getByText(label).isVisible(), `${width}: ${label}`).toBe(hasLabels)
  }
})

test('a wide window has the latest changes beside the list, and an item takes their place', async ({ start }) => {
  const { rpc, show } = await start(25)
  await rpc.pets.update.mutate({ petId: 3n, status: 'sold' })
  const page = await show({ viewport: { width: 1_920, height: 1_080 } })
  const changes = page.getByRole('complementary', { name: 'Latest changes' })
  await changes.getByRole('link', { name: 'pet 3 #3' }).waitFor()
  await inspect(page, 'latest-changes-1920')
  const [list, beside] = [await boxOf(page.locator('.surface')), await boxOf(changes)]
  // What others change comes by itself.
  await rpc.pets.update.mutate({ petId: 4n, status: 'pending' })
  await changes.getByRole('link', { name: 'pet 4 #4' }).click()
  await panel(page, 'pet 4').waitFor()
  expect(await changes.count()).toBe(0)
  expect([await boxOf(page.locator('.surface')), await boxOf(panel(page, 'pet 4'))]).toEqual([list, beside])
  await page.keyboard.press('Escape')
  await changes.getByRole('button', { name: 'All changes' }).click()
  await page.getByRole('heading', { name: 'Changes of pets' }).waitFor()
  await page.keyboard.press('Escape')
  // A narrower window has them in the view of the changes only.
  await page.setViewportSize({ width: 1_440, height: 900 })
  await changes.waitFor({ state: 'hidden' })
})

test('a phone keeps a long category in the line of its label, and the texts above it start where names do', async ({
  open,
}) => {
  const { page } = await open([{ name: 'Rex', categoryId: -9_223_372_036_854_775_807n, status: 'pending' }, 1], phone)
  const number = await boxOf(page.locator('.item-list .filter-value').first())
  const short = await boxOf(page.locator('.item-list .filter-value').last())
  expect([number.x, number.height]).toEqual([short.x, short.height])
  const all = page.getByRole('checkbox', { name: 'Select all pets of this page' })
  const label = page.locator('thead label')
  const gap = await label.evaluate((each) => Number.parseFloat(getComputedStyle(each).columnGap))
  const [box, name] = [await boxOf(all), await boxOf(page.getByRole('link', { name: 'Rex' }))]
  expect(box.x + box.width + gap).toBe(name.x)
  await all.check()
  expect((await boxOf(page.locator('.selection-bar > .number').first())).x).toBe(box.x)
})

test('the first row shows the whole ring of its status, and the bar what is selected elsewhere beside the number', async ({
  open,
}) => {
  const { page } = await open(45, { isLoaded: true })
  const status = choiceOf(page, 'pet 1', /^Status of /)
  const { x, y, width } = await boxOf(status)
  const before = await colorAt(page, x + width / 2, y + 1)
  await press(page, 'Tab')
  await status.focus()
  expect(await colorAt(page, x + width / 2, y + 1)).not.toEqual(before)
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  const bar = page.getByRole('region', { name: '20 selected' })
  const number = await boxOf(bar.getByText('20 selected'))
  const all = await boxOf(bar.getByRole('button', { name: 'Select all 45 that match' }))
  expect(all.x - number.x - number.width).toBeLessThan(20)
  await page.getByRole('button', { name: 'Next', exact: true }).click()
  const elsewhere = await boxOf(bar.getByText('20 not on this page'))
  expect(elsewhere.x - number.x - number.width).toBeLessThan(20)
  await press(page, '?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await help.waitFor()
  expect(await help.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0)
})
