import { type Browser, chromium } from 'playwright-core'
import { inject, onTestFinished } from 'vitest'
import type { AtEnd } from '../support/temporary.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the browser. */
    chromiumPath: string
  }
}

export async function openBrowser(atEnd: AtEnd = onTestFinished): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: inject('chromiumPath'),
    args: ['--no-sandbox', '--disable-gpu'],
    // Scroll bars take space in the layout, as in a desktop browser.
    ignoreDefaultArgs: ['--hide-scrollbars'],
  })
  atEnd(() => browser.close())
  return browser
}
