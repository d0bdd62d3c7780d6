import type { TestProject } from 'vitest/node'
import { setup as buildConsole } from '../support/global-setup.ts'
import { findChromium } from './chromium.ts'

/** Prepares the browser and the build of the console, once for all test files. */
export async function setup({ provide }: TestProject): Promise<void> {
  const [chromiumPath] = await Promise.all([findChromium(), buildConsole()])
  provide('chromiumPath', chromiumPath)
}
