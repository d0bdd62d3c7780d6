import type { TestProject } from 'vitest/node'
import { findChromium } from './chromium.ts'

/** Prepares the browser, once for all test files. */
export async function setup({ provide }: TestProject): Promise<void> {
  provide('chromiumPath', await findChromium())
}
