#!/usr/bin/env node
import { isTooOld } from './node-version.mjs'

if (!isTooOld) {
  await import('../db/fast-start.mjs')
  await import('./main.ts')
}
