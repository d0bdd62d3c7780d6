import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { ApiError, type ErrorCode } from '../../engine/service/api/errors.ts'
import { limits } from '../../engine/service/http/limits.ts'
import { freePort } from '../../engine/test/support/free-port.ts'
import { runCommand, whenListening } from '../../engine/test/support/process.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { read, root } from '../support/documents.ts'
import { mintApiKey, readConfig } from '../support/petstore.ts'

const dockerfile = read('deploy/Dockerfile')
const compose = read('deploy/compose.yaml')
const { services, secrets } = parse(compose)
const nginx = read('deploy/nginx.conf')
const manifest = JSON.parse(read('package.json'))
const lock: { packages: Record<string, { dev?: boolean; optional?: boolean }> } = JSON.parse(read('package-lock.json'))

const stages = dockerfile.split(/^FROM /m).slice(1)
/** The instructions of the last stage, which becomes the image. */
const image = instructionsOf(stages.at(-1) ?? '')
const command = wordsOf(instruction('CMD'))
const environment = Object.fromEntries(
  instruction('ENV')
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
)
const copied = copiedBy(image)
const buildsConsole = instructionsOf(stages.find((stage) => stage.includes(' AS console\n')) ?? '')

test('the image runs "npm start" without npm, on the Node of development, and not as root', () => {
  expect(`exec ${command.join(' ')}`).toBe(manifest.scripts.start)
  const versions = Object.values(manifest.optionalDependencies)
  const bases = [...dockerfile.matchAll(/^FROM (?:--platform=\$BUILDPLATFORM )?node:([\d.]+)-slim\b/gm)]
  expect(bases.map(([, version]) => version)).toEqual([versions[0], versions[0]])
  expect(instruction('USER')).toBe('node')
})

test('every container of compose.yaml has limits of its memory and its log', () => {
  expect(Object.keys(services)).toHaveLength(3)
  for (const [name, { deploy, logging }] of Object.entries<typeof services.petstore>(services)) {
    expect(deploy.resources.limits.memory, name).toMatch(/^\d+[MG]$/)
    expect(logging.options, name).toEqual({ 'max-size': '10m', 'max-file': '5' })
  }
  const [, heap] = /--max-old-space-size=(\d+)/.exec(manifest.scripts.start) ?? []
  expect(services.petstore.deploy.resources.limits.memory).toBe('1G')
  expect(Number(heap)).toBeLessThan(1024)
})

test('all that the image copies is there, and let through by .dockerignore', () => {
  const [first, ...exceptions] = read('.dockerignore')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
  expect(first).toBe('*')
  expect(copied).toContain('server')
  for (const path of stages.flatMap((stage) => copiedBy(instructionsOf(stage)))) {
    expect(existsSync(join(root, path)), path).toBe(true)
    expect(
      exceptions.some((exception) => `${path}/`.startsWith(`${exception.slice(1)}/`)),
      path,
    ).toBe(true)
  }
})

test('the image contains the console, and the copied files are enough to build it', async () => {
  const folder = temporaryFolder()
  copyTo(folder, copiedBy(buildsConsole))
  rmSync(join(folder, 'web/dist'), { recursive: true, force: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const [, command = ''] = buildsConsole.findLast(([keyword]) => keyword === 'RUN') ?? []
  const run = runCommand(onThisNode(wordsOf(command)), { folder })
  expect(await run.ended, run.stderr).toBe(0)
  expect(run.stdout + run.stderr).toBe('')
  expect(existsSync(join(folder, 'web/dist/index.html'))).toBe(true)
  expect(image).toContainEqual(['COPY', '--from=console /app/web/dist web/dist/'])
})

test('the files of the image are enough to start, to pass the health check and to stop', async () => {
  const folder = layOutImage()
  const port = await freePort()
  const volume = `file:${instruction('VOLUME')}/`
  expect(environment.DATABASE_URL).toContain(volume)
  const DATABASE_URL = String(environment.DATABASE_URL).replace(volume, `file:${folder}/data/`)
  const env = { ...environment, PORT: String(port), DATABASE_URL }
  const isHealthy = async () => (await runCommand(onThisNode(healthCheck()), { env }).ended) === 0

  expect(await isHealthy()).toBe(false)
  const server = await whenListening(runCommand(onThisNode(command), { folder, env }))
  await expect.poll(isHealthy).toBe(true)
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200)
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('/assets/index-')

  server.child.kill(instruction('STOPSIGNAL') as NodeJS.Signals)
  expect(await server.ended).toBe(0)
  expect(await isHealthy()).toBe(false)
})

test('the service accepts its configuration in compose.yaml', () => {
  const key = mintApiKey()
  const keyFile = join(temporaryFolder(), 'api_key')
  writeFileSync(keyFile, key)
  const given: Record<string, string> = Object.fromEntries(
    Object.entries(services.petstore.environment).map(([name, value]) => [
      name,
      String(value).replace(/^\$\{\w+:[-?](.*)\}$/, '$1'),
    ]),
  )
  expect(given.PETSTORE_API_KEY_FILE).toBe(`/run/secrets/${Object.keys(secrets)}`)
  const config = readConfig({ ...given, PETSTORE_API_KEY_FILE: keyFile })
  expect(config).toMatchObject({
    database: { kind: 'postgres', url: 'postgres://petstore@postgres/petstore' },
    publicUrl: 'http://127.0.0.1:3000',
    trustProxy: [/subnet: \$\{FRONT_SUBNET:-(.+)\}/.exec(compose)?.[1]],
    apiKey: key,
  })
})

test('the hosts and ports of nginx.conf, compose.yaml and the Dockerfile match', () => {
  const [, host = '', port] = /^ +server (\w+):(\d+) resolve/m.exec(nginx) ?? []
  expect(services[host].build.dockerfile).toBe('deploy/Dockerfile')
  expect(instruction('EXPOSE')).toBe(port)
  expect(environment).toMatchObject({ PORT: port, HOST: '0.0.0.0' })
  expect(services.balancer).toMatchObject({
    ports: [`127.0.0.1:3000:${/^ +listen (\d+);/m.exec(nginx)?.[1]}`],
    volumes: ['./nginx.conf:/etc/nginx/nginx.conf:ro'],
  })
})

test("the balancer's limits leave refusals to the service, and its connections end before the service ends them", () => {
  expect(numberIn(/client_max_body_size (\d+)k;/) * 1024).toBeGreaterThan(limits.body)
  expect(numberIn(/large_client_header_buffers \d+ (\d+)k;/) * 1024).toBeGreaterThan(limits.headers)
  // Those of nginx and of its ingress controller are 60 s by default, as are those of most load balancers.
  expect([numberIn(/ keepalive_timeout (\d+)s;/), 60].map((seconds) => seconds * 1000 < limits.idleTime)).toEqual([
    true,
    true,
  ])
})

test('the balancer asks another instance for a static file that one does not have', () => {
  const [, pattern = 'none'] = /location ~ (\S+) \{[^}]*proxy_next_upstream error timeout http_404;/.exec(nginx) ?? []
  expect('/assets/index-hash.js').toMatch(new RegExp(pattern))
})

test("the balancer's own responses have the Error bodies of the service, and a client cannot request them", () => {
  const bodies = [...nginx.matchAll(/^ +(\d+) '(\{.+\})';$/gm)]
  expect(bodies.map(([, status]) => Number(status))).toEqual([400, 404, 405, 413, 414, 431, 503])
  for (const [, status, text = ''] of bodies) {
    const { code, message }: { code: ErrorCode; message: string } = JSON.parse(text)
    expect(JSON.parse(text)).toEqual(new ApiError(code, message).body)
    expect(JSON.parse(text)).toMatchObject({ status: Number(status) })
  }
  // Each status that nginx generates itself is replaced by one with an Error body.
  for (const [, given = '', replacement, location = ''] of nginx.matchAll(
    /error_page ([\d ]+?)(?: =(\d+))? (\/\w+);/g,
  )) {
    const statuses = replacement ? [replacement] : given.split(' ')
    expect(bodies.map(([, status]) => status)).toEqual(expect.arrayContaining(statuses))
    expect(nginx).toMatch(new RegExp(`location = ${location} \\{[^}]*\n      internal;\n`))
  }
})

/** A folder with the files that the Dockerfile copies and the packages that its "npm ci" installs. */
function layOutImage(): string {
  const folder = temporaryFolder()
  copyTo(folder, [...copied, 'web/dist'])
  for (const [path, { dev, optional }] of Object.entries(lock.packages)) {
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) || dev || optional) continue
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    symlinkSync(join(root, path), join(folder, path))
  }
  return folder
}

function copyTo(folder: string, paths: string[]): void {
  for (const path of paths) cpSync(join(root, path), join(folder, path), { recursive: true })
}

function copiedBy(instructions: [keyword: string, value: string][]): string[] {
  return instructions.flatMap(([keyword, value]) =>
    keyword === 'COPY' && !value.startsWith('--from=') ? value.split(' ').slice(0, -1) : [],
  )
}

function healthCheck(): string[] {
  return wordsOf(instruction('HEALTHCHECK').replace(/^.* CMD /, ''))
}

function onThisNode([node, ...words]: string[]): string[] {
  expect(node).toBe('node')
  return [process.execPath, ...words]
}

function instructionsOf(text: string): [keyword: string, value: string][] {
  return [...text.replaceAll(/\\\n\s*/g, '').matchAll(/^([A-Z]+) (.*)$/gm)].map(([, keyword = '', value = '']) => [
    keyword,
    value,
  ])
}

/** The arguments of the only instruction with this keyword in the image. */
function instruction(keyword: string): string {
  const found = image.filter(([each]) => each === keyword)
  expect(found, keyword).toHaveLength(1)
  return String(found[0]?.[1])
}

/** The arguments of an instruction in exec form, which runs without a shell. */
function wordsOf(execForm: string): string[] {
  return JSON.parse(execForm)
}

function numberIn(pattern: RegExp): number {
  return Number(pattern.exec(nginx)?.[1])
}
