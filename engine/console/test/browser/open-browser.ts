import type { Browser } from 'playwright-core'
import { inject, onTestFinished } from 'vitest'
import type { AtEnd } from '../../../test/support/temporary.ts'
import { launchChromium } from './chromium.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the browser. */
    chromiumPath: string
  }
}

export async function openBrowser(atEnd: AtEnd = onTestFinished): Promise<Browser> {
  const browser = await launchChromium(inject('chromiumPath'))
  atEnd(() => browser.close())
  return browser
}
