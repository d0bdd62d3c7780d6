import { expect } from 'vitest'
import { counting, justAdded, searchField, showing } from '../../../engine/console/test/browser/list.ts'
import {
  beDeveloper,
  boxOf,
  colorAt,
  holdRequests,
  inspect,
  isFocused,
  waitForAnimations,
} from '../../../engine/console/test/browser/page.ts'
import { openBulkAdd, panel, panelsLoaded, submitButton } from '../../../engine/console/test/browser/panels.ts'
import type { Locator, Page } from '../../../engine/console/test/browser/visit.ts'
import { enterPet, test } from '../console.ts'

test('a long name has three lines in the heading of the panel, beside the buttons', async ({ start }) => {
  const { store, show } = await start()
  const name = 'W'.repeat(255)
  await store.pets.create({ name, categoryId: 1n, status: 'sold' })
  for (const width of [1280, 360]) {
    const page = await show({ path: '/?pet=1', viewport: { width, height: 700 } })
    const heading = page.getByRole('heading', { level: 2, name })
    await heading.waitFor()
    expect(await heading.getAttribute('title')).toBe(name)
    const { y, height } = await boxOf(heading)
    expect(height).toBeLessThan(80)
    const close = await boxOf(page.getByRole('button', { name: 'Close', exact: true }).first())
    expect(close.y).toBeLessThan(y + (width === 1280 ? 8 : 40))
    await inspect(page, `long-name-${width}`)
  }
})

test('a small phone has room for wide letters, and for a name beside a long category', async ({ open }) => {
  const { page } = await open(0, { viewport: { width: 320, height: 700 }, bypassCSP: true })
  await enterPet(page, 'Rex the dog of the house', '-9223372036854775807')
  await submitButton(page).click()
  const link = page.locator('.item-list tbody a')
  expect((await boxOf(link)).width).toBeGreaterThan(100)
  // WCAG 2.2, success criterion 1.4.12.
  await page.addStyleTag({
    content: '* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }',
  })
  const { x, width } = await boxOf(justAdded(page).getByRole('button', { name: 'Dismiss' }))
  expect(x + width).toBeLessThan(320)
  await inspect(page, 'wide-letters')
})

/** A phone. */
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

test('the search of a phone has room for its text, and nothing moves when it is used', async ({ open }) => {
  const { page } = await open(5, { ...phone })
  await showing(page, '1–5 of 5')
  const field = searchField(page)
  const row = page.locator('.item-list tbody tr').first()
  const room = () =>
    field.evaluate((input) => {
      const { paddingLeft, paddingRight } = getComputedStyle(input)
      return input.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)
    })
  const before = await boxOf(row)
  // No key of the keyboard is shown.
  expect(await room()).toBeGreaterThanOrEqual(170)
  await field.fill('pet 1')
  await showing(page, '1 of 1')
  expect(await room()).toBeGreaterThanOrEqual(140)
  expect((await boxOf(row)).y).toBe(before.y)
  await inspect(page, 'search-360')
})

test('the card of a phone gives the name its width, and aligns the other values at the edges', async ({ open }) => {
  const { page } = await open(
    [
      { name: 'Rex', categoryId: 7n, status: 'sold' },
      { name: 'Rex the dog '.repeat(20).trim(), categoryId: 7n, status: 'sold' },
    ],
    { ...phone },
  )
  await showing(page, '1–2 of 2')
  // The rows of a list that is being loaded are as high.
  const release = await holdRequests(page)
  const reloading = page.reload()
  await page.locator('.item-skeleton').first().waitFor()
  const skeleton = await boxOf(page.locator('.item-list tbody tr').first())
  release()
  await reloading
  await showing(page, '1–2 of 2')
  const row = await boxOf(page.locator('.item-list tbody tr').first())
  expect(Math.abs(skeleton.height - row.height)).toBeLessThan(2)
  const [short, long] = [page.locator('.item-list tbody tr').first(), page.locator('.item-list tbody tr').last()]
  const card = await boxOf(short)
  const name = await boxOf(short.locator('a'))
  const id = await boxOf(short.locator('[data-kind=id] span'))
  const category = await boxOf(short.locator('.filter-value span'))
  const status = await boxOf(short.locator('.choice'))
  const icon = await boxOf(short.locator('.choice-button .icon'))
  expect(name.width).toBeGreaterThan(260)
  expect(id.y - name.y - name.height).toBeLessThan(16)
  for (const { y, height } of [category, status])
    expect(Math.abs(y + height / 2 - id.y - id.height / 2)).toBeLessThan(2)
  expect(Math.abs(card.x + card.width - 12 - icon.x - icon.width)).toBeLessThan(2)
  expect(card.height).toBeLessThan(80)
  // Two lines, and then an ellipsis.
  expect((await boxOf(long.locator('a'))).height).toBe(2 * name.height)
  await inspect(page, 'cards-360')
})

test('a phone has the tools in one menu, which leaves the screen to the list', async ({ open }) => {
  const { page } = await open(5, { ...phone, isLoaded: true })
  expect((await boxOf(page.locator('.tools'))).height).toBe(44)
  expect((await boxOf(page.locator('.item-list tbody tr').first())).y).toBeLessThan(215)
  const more = page.getByRole('button', { name: 'More' })
  const tools = page.locator('.tools-menu')
  expect(await tools.isVisible()).toBe(false)
  await more.tap()
  for (const label of ['Changes', 'Export', 'Add many']) {
    const shown = await boxOf(tools.getByText(label, { exact: true }))
    expect(shown.width, label).toBeGreaterThan(30)
  }
  expect(await missed(page, '.tools-menu')).toEqual([])
  const { x, width } = await boxOf(tools)
  expect(x + width).toBe((await boxOf(page.locator('.tools'))).x + (await boxOf(page.locator('.tools'))).width)
  await inspect(page, 'tools-360')
  await page.keyboard.press('Escape')
  expect(await tools.isVisible()).toBe(false)

  // By keys, as with a keyboard beside a tablet.
  await more.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  expect(await isFocused(tools.getByRole('button', { name: 'Export' }))).toBe(true)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Export pets' }).waitFor()
  expect(await tools.isVisible()).toBe(false)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  expect(await isFocused(more)).toBe(true)
})

test('the button that closes a message is beside its first line', async ({ start }) => {
  const { store, show } = await start()
  await store.pets.create({ name: 'Rex the dog of the house at the river', categoryId: 7n, status: 'pending' })
  for (const options of [{}, phone]) {
    const page = await show({ ...options })
    await page.getByRole('link', { name: /^Rex/ }).first().waitFor()
    await panelsLoaded(page)
    await page.route('**/trpc/pets.update', (route) => {
      const data = { code: 'CONFLICT', httpStatus: 409, status: 409, message: 'Changed meanwhile: status.' }
      return route.fulfill({ status: 409, json: { error: { json: { message: data.message, code: -32009, data } } } })
    })
    await page
      .getByRole('button', { name: /^Status of Rex/ })
      .first()
      .click()
    await page.getByRole('menuitemradio', { name: 'Sold' }).click()
    await expectBesideFirstLine(page.locator('.edit-notice[data-failed]'), 'p')
    await inspect(page, `conflict-${page.viewportSize()?.width}`)

    await enterPet(page, 'Rex the dog of the house at the river', '7')
    await submitButton(page).click()
    await expectBesideFirstLine(justAdded(page), '.just-added-count')
    await inspect(page, `just-added-${page.viewportSize()?.width}`)
  }
})

async function expectBesideFirstLine(message: Locator, text: string): Promise<void> {
  const close = await boxOf(message.getByRole('button', { name: 'Dismiss' }))
  const around = await boxOf(message)
  const line = await boxOf(message.locator(text))
  expect(around.x + around.width - close.x - close.width).toBeLessThan(12)
  expect(close.x).toBeGreaterThanOrEqual(line.x + line.width)
  expect(Math.abs(close.y + close.height / 2 - line.y - 10)).toBeLessThan(8)
}

test('the cards of a phone are equally high, however long their categories are', async ({ start }) => {
  const { store, show } = await start()
  for (const categoryId of [7n, 9_007_199_254_740_993n, -9_223_372_036_854_775_808n])
    await store.pets.create({ name: 'Rex', categoryId, status: 'available' })
  for (const width of [360, 320]) {
    const page = await show({ ...phone, viewport: { width, height: 740 } })
    await showing(page, '1–3 of 3')
    const heights = await page.locator('.item-list tbody tr').evaluateAll((rows) => rows.map((row) => row.clientHeight))
    expect(new Set(heights).size, `${width}: ${heights}`).toBe(1)
    expect(heights[0]).toBeLessThan(80)
    const cut = await page
      .locator('.filter-value span')
      .evaluateAll((all) => all.map((each) => each.scrollHeight - each.clientHeight))
    expect(cut, `${width}`).toEqual([0, 0, 0])
    const lines = await page
      .locator('.filter-value span')
      .evaluateAll((all) => all.map((each) => Math.round(each.clientHeight / 16)))
    // 16 digits need the room of the label, and no second line.
    expect(lines, `${width}`).toEqual([1, width === 360 ? 1 : 2, 2])
    await inspect(page, `long-categories-${width}`)
  }
})

test('the bar of the selection is one line on a phone, and a second one only selects more', async ({ open }) => {
  const { page } = await open(45, { ...phone })
  await showing(page, '1–20 of 45')
  const rows = page.locator('.item-list tbody input')
  const tops = () =>
    page.locator('.item-list tbody tr').evaluateAll((all) => all.map((row) => row.getBoundingClientRect().y))
  const before = await tops()
  for (const index of [0, 1]) await rows.nth(index).check()
  const bar = page.getByRole('region', { name: '2 selected' })
  await bar.waitFor()
  expect(await tops()).toEqual(before)
  const middles = () =>
    page
      .locator('.selection-bar > :not(.copy)')
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).map(({ y, height }) => y + height / 2))
  expect((await boxOf(bar)).height).toBeLessThan(50)
  const [first = 0, ...others] = (await middles()).filter((middle) => middle > 0)
  for (const middle of others) expect(Math.abs(middle - first)).toBeLessThan(1)
  await bar.getByRole('button', { name: 'Remove', exact: true }).waitFor()
  expect(await missed(page, '.selection-bar')).toEqual([])
  await inspect(page, 'selection-360')

  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  const more = await boxOf(page.getByRole('button', { name: 'Select all 45 that match' }))
  for (const name of ['Set status', 'Set category', 'Remove', 'Clear the selection'])
    expect((await boxOf(page.locator('.selection-bar').getByRole('button', { name }))).y).toBeLessThan(more.y - 30)
  expect(await missed(page, '.selection-bar')).toEqual([])
  await inspect(page, 'selection-of-page-360')
})

test('the bar of the selection fits every width, also of an empty list', async ({ open }) => {
  const { page } = await open(45, { viewport: { width: 900, height: 740 } })
  await showing(page, '1–20 of 45')
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  const bar = page.locator('.selection-bar')
  for (const width of [900, 768, 700, 640, 320]) {
    await page.setViewportSize({ width, height: 740 })
    const numbers = bar.locator('.number')
    const cut = () =>
      numbers.evaluateAll((all) =>
        all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.innerHTML),
      )
    // The words for a phone come a moment after the width.
    await expect.poll(cut, { message: `${width}` }).toEqual([])
    for (const button of await bar.getByRole('button').all()) {
      const { x, width: size } = await boxOf(button)
      expect(x + size, `${width}`).toBeLessThanOrEqual(width)
    }
  }
  await page.setViewportSize({ width: 1_280, height: 740 })
  await page.getByPlaceholder('Id, name or category').fill('qqqq')
  await page.getByRole('heading', { name: /No pet/ }).waitFor()
  const [inside, card] = [await boxOf(bar), await boxOf(page.locator('.surface'))]
  expect(inside.y - card.y).toBeLessThan(4)
  await inspect(page, 'selection-of-empty-list')
})

test('the buttons of the selection do not touch the line below them', async ({ open }) => {
  const { page } = await open(3)
  await showing(page, '1–3 of 3')
  await box(page).check()
  const bar = await boxOf(page.locator('.selection-bar'))
  const buttons = await page.locator('.selection-bar button').all()
  expect(buttons.length).toBe(5)
  for (const button of buttons) {
    const { y, height } = await boxOf(button)
    expect(height).toBeGreaterThanOrEqual(24)
    expect(y - bar.y).toBeGreaterThanOrEqual(2)
    expect(bar.y + bar.height - 1 - y - height).toBeGreaterThanOrEqual(2)
  }
  await inspect(page, 'selection-1280')
})

test('a notice covers neither the last rows nor the footer of the list', async ({ start }) => {
  const { show } = await start(45)
  for (const options of [{}, { viewport: { width: 768, height: 800 } }, phone]) {
    const page = await show({ ...options })
    await showing(page, '1–20 of 45')
    await panelsLoaded(page)
    const status = page.getByRole('button', { name: /^Status of pet 1: / })
    await status.click()
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
    for (const selector of ['.item-list tbody tr:last-child', '.list-range', '.page-size', '.pager']) {
      const part = await page.locator(selector).boundingBox()
      if (!part) continue
      const isBeside = shown.x >= part.x + part.width || part.x >= shown.x + shown.width
      const isOver = shown.y >= part.y + part.height - 1 || part.y >= shown.y + shown.height - 1
      expect(isBeside || isOver, `${selector} ${JSON.stringify([shown, part])}`).toBe(true)
    }
    await inspect(page, `notice-${page.viewportSize()?.width}`)
  }
})

test('the notice of a phone covers nothing else that is fixed, and moves nothing', async ({ open }) => {
  const { page } = await open(25, { ...phone, isLoaded: true })
  await page.getByRole('checkbox', { name: 'Select all pets of this page' }).check()
  await page.getByRole('button', { name: 'Select all 25 that match' }).waitFor()
  const fixed = page.locator('.header, .search input, .tools .button, .selection-bar, .list-footer')
  const parts = fixed.or(page.locator('.item-list tbody tr'))
  const places = (of = parts) =>
    of.evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).map(({ y, height }) => [y, y + height]))
  const before = await places()
  expect(before.length).toBeGreaterThan(9)
  await page.getByRole('button', { name: /^Status of pet 2: / }).click()
  await page.getByRole('menuitemradio', { name: 'Sold' }).click()
  const notice = page.locator('.edit-notice')
  await notice.waitFor()
  expect(await places()).toEqual(before)
  const shown = await boxOf(notice)
  for (const [top = 0, bottom = 0] of await places(fixed))
    expect(bottom <= shown.y || top >= shown.y + shown.height, `${top} ${JSON.stringify(shown)}`).toBe(true)
  expect(await missed(page, '.edit-notice')).toEqual([])
  await inspect(page, 'notice-of-selection-360')
})

test('nothing moves when a copy is confirmed, or when a search changes the counts', async ({ open }) => {
  const { page } = await open(5, { permissions: ['clipboard-read', 'clipboard-write'] })
  await showing(page, '1–5 of 5')
  await counting(page, 'Available 5')
  await box(page).check()
  const buttons = page.locator('.selection-bar > button')
  const widths = () => buttons.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width))
  await buttons.first().waitFor()
  const before = await widths()
  await buttons.nth(3).click()
  await page.getByRole('menuitem', { name: 'JSON' }).click()
  await page.locator('.selection-bar').getByRole('button', { name: 'Copied' }).waitFor()
  expect(await widths()).toEqual(before)
  // The line below the bar goes through to the edge of the list.
  const color = (selector: string) =>
    page.locator(selector).evaluate((each) => getComputedStyle(each).borderBottomColor)
  expect(await color('.item-table thead td')).toBe(await color('.selection-bar'))
  const chip = page.locator('.chip').last()
  const counted = await boxOf(chip)
  await searchField(page).fill('pet 1')
  await showing(page, '1 of 1')
  expect(await boxOf(chip)).toEqual(counted)
})

test('a finger hits each control within 44 px', async ({ start }) => {
  const { url, show } = await start(3)
  for (const viewport of [phone.viewport, { width: 1_024, height: 1_366 }]) {
    const page = await show({ ...phone, viewport })
    await showing(page, '1–3 of 3')
    await panelsLoaded(page)
    expect(await missed(page)).toEqual([])
    await searchField(page).fill('pet')
    await showing(page, '1–3 of 3')
    expect(await missed(page)).toEqual([])
    await page.locator('.item-list tbody input').first().check()
    await page.locator('.selection-bar').waitFor()
    expect(await missed(page, '.selection-bar')).toEqual([])
    // They also look as large, and say what they do.
    const buttons = page.locator('.selection-bar > button')
    const heights = await buttons.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height))
    // One of them is not shown on a phone.
    expect(Math.min(...heights.filter((height) => height > 0))).toBe(44)
    expect(await buttons.filter({ hasText: 'category' }).innerText()).toMatch(/^(Set c|C)ategory$/)
    await page.getByRole('button', { name: 'Clear the selection' }).tap()
    await page.locator('.selection-bar').waitFor({ state: 'hidden' })
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

test('the fields of a phone are 44 px high, and nothing moves when one is edited', async ({ open }) => {
  const { url, page } = await open(3, { path: '/?pet=2', ...phone })
  const category = page.getByRole('term').getByText('Category')
  await category.waitFor()
  const before = await boxOf(category)
  await page.getByRole('button', { name: 'Edit the name' }).tap()
  const name = page.getByRole('textbox', { name: 'Name' })
  expect((await boxOf(name)).height).toBeGreaterThanOrEqual(44)
  // Some phones zoom in when a field with a smaller font gets the focus.
  expect(await name.evaluate((input) => getComputedStyle(input).fontSize)).toBe('16px')
  expect((await boxOf(category)).y).toBe(before.y)
  await inspect(page, 'edit-name-360')
  await name.fill('')
  await name.press('Enter')
  await page.getByText('The name is missing.').waitFor()
  await inspect(page, 'edit-name-error-360')
  await page.getByRole('button', { name: 'Edit the category' }).tap()
  expect(await page.getByRole('textbox', { name: 'Category' }).getAttribute('inputmode')).toBe('numeric')

  await page.goto(url)
  const sheet = await openBulkAdd(page)
  expect((await boxOf(sheet.getByRole('button', { name: 'Choose a file' }))).height).toBeGreaterThanOrEqual(44)
  // Nothing can be dropped.
  expect(await sheet.getByText('or drop one here').isVisible()).toBe(false)
  await sheet.getByRole('textbox', { name: 'Paste CSV, TSV or JSON' }).fill('Rex,x,sold')
  expect(await sheet.getByText('or drop one here').isVisible()).toBe(false)
  const cell = sheet.locator('td', { has: page.getByRole('textbox', { name: 'Category, row 1' }) })
  expect(await cell.evaluate((each) => getComputedStyle(each, '::before').content)).toContain('Category')
  await inspect(page, 'add-many-360')
})

test('the error of a category that is edited has the font of the page', async ({ open }) => {
  const { page } = await open(3, { path: '/?pet=2' })
  await page.getByRole('button', { name: 'Edit the category' }).click()
  await page.getByRole('textbox', { name: 'Category' }).fill('seven')
  await page.keyboard.press('Enter')
  const error = page.getByText('The category is not a whole number.')
  await error.waitFor()
  const fonts = (element: Locator) => element.evaluate((each) => getComputedStyle(each).fontFamily)
  expect(await fonts(error)).toBe(await fonts(page.locator('body')))
  await inspect(page, 'edit-error')
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
    expect(await isFocused(status.nth(index))).toBe(true)
    const { x, y, width, height } = await boxOf(status.nth(index))
    for (const [left, top] of [
      [x + 1, y + height / 2],
      [x + width - 1, y + height / 2],
      [x + width / 2, y + 1],
      [x + width / 2, y + height - 1],
    ] as const)
      expect(await colorAt(page, left, top), `status ${index} at ${left}, ${top}`).toEqual([79, 70, 229])
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

test('20 rows fit a window of 1280 by 800, and the tools have labels where they fit', async ({ start }) => {
  const { show } = await start(25)
  for (const [width, hasLabels] of [
    [1_280, true],
    [1_200, false],
  ] as const) {
    const page = await show({ viewport: { width, height: 800 } })
    await showing(page, '1–20 of 25')
    await counting(page, 'Available 25')
    expect(await page.locator('.item-list').evaluate((each) => each.scrollHeight - each.clientHeight)).toBe(0)
    for (const label of ['Changes', 'Export', 'Add many'])
      expect(await page.locator('.tools').getByText(label).isVisible(), `${width}: ${label}`).toBe(hasLabels)
    expect((await boxOf(page.locator('.tool-line'))).height).toBeLessThan(40)
    await inspect(page, `rows-${width}`)
  }
  // Above the chips.
  const page = await show({ viewport: { width: 768, height: 800 } })
  await showing(page, '1–20 of 25')
  expect(await page.locator('.tools').getByText('Add many').isVisible()).toBe(true)
})

test('a wide window has the latest changes beside the list, and an item takes their place', async ({ start }) => {
  const { rpc, show } = await start(25)
  await rpc.pets.update.mutate({ petId: 3n, status: 'sold' })
  const page = await show({ viewport: { width: 1_920, height: 1_080 } })
  await showing(page, '1–25 of 25')
  const changes = page.getByRole('complementary', { name: 'Latest changes' })
  await changes.getByRole('link', { name: 'pet 3 #3' }).waitFor()
  const list = await boxOf(page.locator('.surface'))
  const beside = await boxOf(changes)
  expect(beside.x).toBeGreaterThan(list.x + list.width)
  expect([beside.y, beside.height]).toEqual([list.y, list.height])
  await inspect(page, 'latest-changes-1920')
  // What others change comes by itself.
  await rpc.pets.update.mutate({ petId: 4n, status: 'pending' })
  await changes.getByRole('link', { name: 'pet 4 #4' }).click()
  await panel(page, 'pet 4').waitFor()
  expect(await changes.count()).toBe(0)
  expect(await boxOf(page.locator('.surface'))).toEqual(list)
  expect(await boxOf(panel(page, 'pet 4'))).toEqual(beside)
  await page.keyboard.press('Escape')
  await changes.waitFor()
  await changes.getByRole('button', { name: 'All changes' }).click()
  await page.getByRole('heading', { name: 'Changes of pets' }).waitFor()
  await page.keyboard.press('Escape')
  // A narrower window has them in the view of the changes only.
  await page.setViewportSize({ width: 1_440, height: 900 })
  await changes.waitFor({ state: 'hidden' })
})

test('a larger window has rows of the same height, and columns that share its width', async ({ start }) => {
  const { show } = await start(25)
  const heights = []
  for (const viewport of [
    { width: 1_280, height: 800 },
    { width: 1_920, height: 1_080 },
  ]) {
    const page = await show({ path: '/?size=20', viewport })
    await showing(page, '1–20 of 25')
    heights.push((await boxOf(page.locator('.item-list tbody tr').first())).height)
    const widths = await page.locator('thead th').evaluateAll((all) => all.map((each) => each.clientWidth))
    const [, name = 0, category = 0, status = 0] = widths
    // Names have the room, and the eye still finds the status.
    expect(name, `${widths}`).toBeGreaterThan(2 * category)
    expect(status - 100, `${widths}`).toBeLessThan(160)
    await inspect(page, `columns-${viewport.width}`)
  }
  expect(heights[0]).toBe(heights[1])
})

test('the open row looks different from a selected one', async ({ start }) => {
  const { show } = await start(3)
  for (const scheme of ['light', 'dark', 'forced'] as const) {
    const options = scheme === 'forced' ? ({ forcedColors: 'active' } as const) : { colorScheme: scheme }
    const page = await show({ path: '/?pet=1', ...options })
    await page.getByRole('heading', { level: 2, name: 'pet 1' }).waitFor()
    await page.getByRole('checkbox', { name: 'Select pet 3, id 3' }).check()
    // The pointer is not on a row.
    await page.mouse.move(0, 0)
    const lookOf = (name: string) =>
      page.locator('tbody tr', { hasText: name }).evaluate(
        (row, property) => {
          return getComputedStyle(row).getPropertyValue(property)
        },
        scheme === 'forced' ? 'outline-style' : 'background-color',
      )
    const [open, plain, selected] = [await lookOf('pet 1'), await lookOf('pet 2'), await lookOf('pet 3')]
    expect(open).not.toBe(selected)
    expect(open).not.toBe(plain)
    await inspect(page, `open-and-selected-${scheme}`)
  }
})

function box(page: Page): Locator {
  return page.locator('.item-list tbody input').first()
}
