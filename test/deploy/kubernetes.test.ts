import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { maxStopTime } from '../../engine/service/serve/serve.ts'
import { temporaryFolder } from '../../engine/test/support/temporary.ts'
import { read } from '../support/documents.ts'
import { mintApiKey, readConfig, startTestApi, variableNames } from '../support/petstore.ts'

const dockerfile = read('deploy/Dockerfile')
const shapes = ['sqlite', 'postgres'] as const

interface Resource {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: Record<string, unknown>
}

test.for(shapes)('the service accepts its environment in the %s manifests', (shape) => {
  const environment = Object.fromEntries(containerOf(shape).env.map(({ name, value }) => [name, value]))
  expect(Object.keys(environment).filter((name) => name !== 'PGPASSWORD' && !variableNames.includes(name))).toEqual([])

  const keyFile = join(temporaryFolder(), 'api-key')
  writeFileSync(keyFile, mintApiKey())
  const image = Object.fromEntries(
    [...dockerfile.matchAll(/\b([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  )
  const config = readConfig({ ...image, ...environment, PETSTORE_API_KEY_FILE: keyFile })
  expect(config.database.kind).toBe(shape)
  expect(config).toMatchObject({ host: '0.0.0.0', adminHost: '0.0.0.0', publicUrl: 'https://petstore.example' })
})

test.for(shapes)('the paths, ports and names in the %s manifests fit together', (shape) => {
  const { ports, env, volumeMounts } = containerOf(shape)
  const pod = podOf(shape)
  const adminPort = env.find(({ name }) => name === 'ADMIN_PORT')?.value
  expect(ports).toEqual([
    { name: 'http', containerPort: Number(/^EXPOSE (\d+)$/m.exec(dockerfile)?.[1]) },
    { name: 'metrics', containerPort: Number(adminPort) },
  ])
  const { mountPath } = volumeMounts.find(({ name }) => name === 'api-key') ?? {}
  expect(env.find(({ name }) => name === 'PETSTORE_API_KEY_FILE')?.value).toBe(`${mountPath}/api-key`)
  for (const resource of resourcesOf(shape)) {
    expect(JSON.stringify(resource.spec.selector)).toContain('"app.kubernetes.io/name":"petstore"')
  }
  expect(pod.metadata.labels).toEqual({ 'app.kubernetes.io/name': 'petstore' })
  const mounted = volumeMounts.map((mount) => mount.mountPath)
  expect(mounted.includes(/^VOLUME (\S+)$/m.exec(dockerfile)?.[1] ?? '')).toBe(shape === 'sqlite')
})

test('the probes request routes that need no key', async () => {
  const { rest } = await startTestApi()
  const probes = shapes.map(containerOf).flatMap((each) => [each.startupProbe, each.livenessProbe, each.readinessProbe])
  for (const { httpGet } of probes) {
    expect(httpGet.port).toBe('http')
    expect((await rest.get(httpGet.path, { authorization: '' })).status).toBe(200)
  }
})

test.for(shapes)('a pod of the %s manifests has more time to stop than the service takes', (shape) => {
  const pause = containerOf(shape).lifecycle?.preStop.sleep.seconds ?? 0
  const { terminationGracePeriodSeconds } = podOf(shape).spec
  expect((terminationGracePeriodSeconds - pause) * 1_000).toBeGreaterThan(maxStopTime)
})

test.for(shapes)('a container of the %s manifests has no privileges and cannot write to its file system', (shape) => {
  const { spec } = podOf(shape)
  expect(spec.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  })
  expect(containerOf(shape).securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  expect(spec.automountServiceAccountToken).toBe(false)
})

test('the manifests run the image of this release and contain no secret', () => {
  const { version } = JSON.parse(read('package.json'))
  for (const shape of shapes) {
    expect(containerOf(shape).image).toBe(`petstore:${version}`)
    expect(read(`deploy/kubernetes/${shape}.yaml`)).not.toMatch(/kind: Secret|pet_[0-9A-Za-z]{38}|:[^/\s]+@/)
  }
})

test('only the ingress controller reaches the service, and only Prometheus the admin port', () => {
  const [ingress, policy] = resourcesOf('ingress')
  const [monitor] = resourcesOf('pod-monitor')
  const ports = containerOf('sqlite').ports.map(({ name }) => name)
  const matchLabels = { 'app.kubernetes.io/name': 'petstore' }
  expect(policy?.spec).toEqual({
    podSelector: { matchLabels },
    policyTypes: ['Ingress'],
    ingress: ports.map((port) => ({ from: [{ namespaceSelector: expect.anything() }], ports: [{ port }] })),
  })
  expect(monitor?.spec).toMatchObject({ selector: { matchLabels }, podMetricsEndpoints: [{ port: 'metrics' }] })
  const backend = { service: { name: 'petstore', port: { name: 'http' } } }
  const publicUrl = containerOf('sqlite').env.find(({ name }) => name === 'PUBLIC_URL')?.value
  expect(ingress?.spec.rules).toMatchObject([
    { host: publicUrl?.replace('https://', ''), http: { paths: [{ backend }] } },
  ])
  for (const shape of shapes) {
    const service = resourcesOf(shape).find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'petstore')
    expect(service?.spec.ports, shape).toMatchObject([{ name: 'http' }])
  }
})

test('the pod for a restore has the volume, the image and the rights of the service', () => {
  const [pod] = resourcesOf('restore')
  const { image, resources, securityContext, volumeMounts } = containerOf('sqlite')
  const data = volumeMounts.find(({ name }) => name === 'data')
  expect(pod?.spec).toMatchObject({
    securityContext: podOf('sqlite').spec.securityContext,
    containers: [{ image, resources, securityContext, volumeMounts: [data] }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-petstore-0' } }],
  })
  expect(dockerfile).toContain(`DATABASE_URL=file:${data?.mountPath}/`)
})

interface Container {
  image: string
  env: { name: string; value?: string }[]
  ports: { name: string }[]
  volumeMounts: { name: string; mountPath: string }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  lifecycle?: { preStop: { sleep: { seconds: number } } }
  securityContext: object
  resources: object
}

interface Probe {
  httpGet: { path: string; port: string }
}

interface Pod {
  metadata: { labels: object }
  spec: {
    automountServiceAccountToken: boolean
    terminationGracePeriodSeconds: number
    securityContext: object
    containers: Container[]
  }
}

function resourcesOf(name: string): Resource[] {
  return parseAllDocuments(read(`deploy/kubernetes/${name}.yaml`)).map((document) => document.toJS())
}

/** The schemas are checked by another test, so this test may rely on the form of a pod. */
function podOf(shape: (typeof shapes)[number]): Pod {
  const [template] = resourcesOf(shape).flatMap(({ spec }) => ('template' in spec ? [spec.template as Pod] : []))
  if (!template) throw new Error(`deploy/kubernetes/${shape}.yaml has no pod.`)
  return template
}

function containerOf(shape: (typeof shapes)[number]): Container {
  const [container] = podOf(shape).spec.containers
  if (!container) throw new Error(`deploy/kubernetes/${shape}.yaml has no container.`)
  return container
}
