import { lockedDependencies } from './locked-dependencies.ts'

/** Prints a line for each package that the service needs at run time: its license, its name and its version. */
for (const [path, { version, license = 'unknown' }] of Object.entries(lockedDependencies())) {
  process.stdout.write(`${license}\t${path.replace(/^.*node_modules\//, '')}\t${version}\n`)
}
