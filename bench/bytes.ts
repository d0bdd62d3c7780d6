import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChromium, launchChromium } from '../engine/console/test/chromium.ts'
import { setup as buildConsole } from '../test/support/global-setup.ts'
import { makeDatabase } from './database.ts'
import { runWrk } from './independent/wrk.ts'
import { median, quartiles } from './measure.ts'
import { circumstances, showProgress, table, writeSection } from './report.ts'
import { type RunningServer, requireTool, startServer } from './servers.ts'
import type { Target, Workload } from './workloads.ts'

/** What compression costs the service, and what a browser on a slow link gains. */

const pets = 100_000
const rounds = 8
const encodings = ['none', 'gzip', 'br'] as const
const loads: Partial<Record<Workload, string>> = {
  'list-hot': 'hot list of 20',
  page: 'any page of 20',
  'page-100': 'any page of 100',
}
/** 20 Mbit/s with a round trip of 40 ms. */
const slowLink = { offline: false, latency: 40, downloadThroughput: 20e6 / 8, uploadThroughput: 20e6 / 8 }

type Browser = Awaited<ReturnType<typeof launchChromium>>

interface Transfer {
  /** Milliseconds from the first request to the end of the last response. */
  time: number
  /** Bytes of the responses with their headers. */
  bytes: number
}

/** What a browser requests. */
const visited = ['console until it shows the list', 'list of 100', 'the same list again (304)']
/** The transfers of each row of {@link visited}. */
type Visit = Transfer[][]

requireTool('wrk')
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
try {
  await buildConsole()
  const template = join(folder, 'template.db')
  const key = makeDatabase(template, pets)
  const server = await startServer('petstore', template)
  const target = { port: server.port, key, database: server.database, pets }
  const text = [await costTable(server, target), await transferTable(target)].join('\n\n')
  await server.stop()
  showProgress('')
  process.stdout.write(`${text}\n`)
  writeSection('bytes', `${circumstances('npm run bench:bytes')}\n\n${text}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** User CPU time of the service per request. The encodings alternate, so that a slow second of the machine affects each. */
async function costTable(server: RunningServer, target: Target): Promise<string> {
  const rows: string[][] = []
  // Safe: the keys of `loads` are workloads.
  for (const [workload, title] of Object.entries(loads) as [Workload, string][]) {
    const seen = encodings.map((): number[] => [])
    for (let round = 0; round <= rounds; round++) {
      showProgress(`${title}, round ${round}`)
      for (const [index, encoding] of encodings.entries()) {
        const acceptEncoding = encoding === 'none' ? undefined : encoding
        const job = { workload, target: { ...target, acceptEncoding }, connections: 32, seconds: 1 }
        const before = server.cpuTimes().user
        const { requests } = await runWrk(folder, job)
        // The first round warms up.
        if (round > 0) seen[index]?.push((server.cpuTimes().user - before) / requests)
      }
    }
    rows.push([
      title,
      ...seen.map((times) => quartiles(times)).map(({ lower, median }) => `${lower.toFixed(0)} (${median.toFixed(0)})`),
    ])
  }
  return table(['User CPU in µs, lower quartile (median)', ...encodings], rows)
}

/** What a browser transfers over the slow link. Visits with and without compression alternate, too. */
async function transferTable(target: Target): Promise<string> {
  const browser = await launchChromium(await findChromium())
  const [plain, compressed]: [Visit[], Visit[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    showProgress(`page load ${round}`)
    plain.push(await visit(browser, target, { 'accept-encoding': 'identity' }))
    compressed.push(await visit(browser, target, {}))
  }
  await browser.close()
  const rows = visited.map((what, index) => {
    const of = (visits: Visit[], field: keyof Transfer) =>
      median(visits.flatMap((visit) => (visit[index] ?? []).map((transfer) => transfer[field])))
    const [time, bytes] = [of(plain, 'time'), of(plain, 'bytes')]
    const [shorter, fewer] = [of(compressed, 'time'), of(compressed, 'bytes')]
    const ratios = [(shorter / time).toFixed(2), (fewer / bytes).toFixed(2)]
    return [what, time.toFixed(1), bytes.toFixed(0), shorter.toFixed(1), fewer.toFixed(0), ...ratios]
  })
  return table(
    ['20 Mbit/s, 40 ms (medians)', 'ms, not compressed', 'bytes', 'ms, compressed', 'bytes', '× ms', '× bytes'],
    rows,
  )
}

async function visit(
  browser: Browser,
  { port, key, pets }: Target,
  extraHTTPHeaders: Record<string, string>,
): Promise<Visit> {
  const context = await browser.newContext({ extraHTTPHeaders })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', slowLink)
  await page.addInitScript({ content: `sessionStorage.setItem('petstore-api-key', '${key}')` })

  /** Sums what is transferred while `act` runs. */
  async function transferOf(act: () => Promise<unknown>): Promise<Transfer> {
    const starts: number[] = []
    const ends: number[] = []
    let bytes = 0
    const onSent = ({ timestamp }: { timestamp: number }) => void starts.push(timestamp)
    const onFinished = ({ timestamp, encodedDataLength }: { timestamp: number; encodedDataLength: number }) => {
      ends.push(timestamp)
      bytes += encodedDataLength
    }
    session.on('Network.requestWillBeSent', onSent).on('Network.loadingFinished', onFinished)
    await act()
    session.off('Network.requestWillBeSent', onSent).off('Network.loadingFinished', onFinished)
    return { time: (Math.max(...ends) - Math.min(...starts)) * 1_000, bytes }
  }

  const load = await transferOf(async () => {
    await page.goto(`http://127.0.0.1:${port}/`)
    await page.locator('.item-list tbody a').first().waitFor()
  })
  await page.waitForLoadState('networkidle')
  const [lists, unchanged]: [Transfer[], Transfer[]] = [[], []]
  for (let i = 0; i < 10; i++) {
    const url = `v1/pets?limit=100&cursor=${Math.floor(Math.random() * (pets - 100))}`
    const init = `{ headers: { authorization: 'Bearer ${key}' } }`
    const list = () => page.evaluate(`fetch('${url}', ${init}).then((response) => response.text())`)
    lists.push(await transferOf(list))
    unchanged.push(await transferOf(list))
  }
  await context.close()
  return [[load], lists, unchanged]
}
