#!/usr/bin/env node
import { isTooOld } from './node-version.mjs'

if (!isTooOld) {
  await import('#store/fast-start')
  await import('./main.ts')
}
