import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'

const root = join(import.meta.dirname, '../..')

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the browser. */
    chromiumPath: string
  }
}

/** Prepares the browser and the build of the console, once for all test files. */
export async function setup({ provide }: TestProject): Promise<void> {
  const [chromiumPath] = await Promise.all([
    process.env.CHROMIUM_PATH ?? unpackChromium(),
    promisify(execFile)(process.execPath, [join(root, 'web/build.ts')]),
  ])
  provide('chromiumPath', chromiumPath)
}

/** Unpacks the browser of the dependencies once. The package unpacks it into TMPDIR, so TMPDIR is changed meanwhile. */
async function unpackChromium(): Promise<string> {
  const folder = join(root, 'node_modules/.cache/chromium')
  mkdirSync(folder, { recursive: true })
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  try {
    const { default: chromium } = await import('@sparticuz/chromium')
    return await chromium.executablePath()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}
