#!/usr/bin/env node
import { isTooOld } from './node-version.mjs'

if (!isTooOld) {
  await import('../engine/store/fast-start.mjs')
  await import('./main.ts')
}
