// Plain JavaScript, because a Node that is too old cannot load the TypeScript files.
const [major] = process.versions.node.split('.').map(Number)

export const isTooOld = major < 24

if (isTooOld) {
  console.error(
    `Petstore needs Node 24 or newer, and this is ${process.version}: run it with "npm start" after "npm ci", or install a newer Node.`,
  )
  process.exitCode = 1
}
