import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'
import type { TestProject } from 'vitest/node'

/** The path of the browser: that of CHROMIUM_PATH, or of the dependencies. */
async function findChromium(): Promise<string> {
  return process.env.CHROMIUM_PATH ?? unpackChromium()
}

/** Unpacks the browser of the dependencies once. The package unpacks it into TMPDIR, so TMPDIR is changed meanwhile. */
async function unpackChromium(): Promise<string> {
  const folder = join(import.meta.dirname, 'node_modules/.cache/chromium')
  mkdirSync(folder, { recursive: true })
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  try {
    return await chromium.executablePath()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

export function launchChromium(executablePath: string): Promise<Browser> {
  return playwright.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu'],
    // Scroll bars take space in the layout, as in a desktop browser.
    ignoreDefaultArgs: ['--hide-scrollbars'],
  })
}

/** Prepares the browser, once for all test files. */
export async function setup({ provide }: TestProject): Promise<void> {
  provide('chromiumPath', await findChromium())
}
