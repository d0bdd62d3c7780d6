import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Prints what CHANGELOG.md says of the version of package.json, for the page of the release. With the argument `v1.2.3`, it
 * fails unless this is the tag of that version, and the section has a date.
 */

const root = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const [tag] = process.argv.slice(2)
if (tag && tag !== `v${version}`) fail(`The tag ${tag} is not v${version}, the version of package.json.`)

const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
const section = sections.find((text) => text.split(/[ \n]/)[0]?.replaceAll(/[[\]]/g, '') === version)
const [, notes = ''] = /\n([\s\S]*)$/.exec(section ?? '') ?? []
if (notes.trim() === '') fail(`CHANGELOG.md has no section for ${version}. Rename "Unreleased".`)
if (tag && !/^\S+ - \d{4}-\d\d-\d\d\n/.test(section ?? '')) fail(`CHANGELOG.md has no date for ${version}.`)
process.stdout.write(`${notes.trim()}\n`)

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
