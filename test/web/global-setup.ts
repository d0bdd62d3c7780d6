import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import type { TestProject } from 'vitest/node'
import { setup as buildConsole } from '../support/global-setup.ts'

/** Prepares the browser and the build of the console, once for all test files. */
export async function setup({ provide }: TestProject): Promise<void> {
  const [chromiumPath] = await Promise.all([process.env.CHROMIUM_PATH ?? unpackChromium(), buildConsole()])
  provide('chromiumPath', chromiumPath)
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
