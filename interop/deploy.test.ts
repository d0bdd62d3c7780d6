import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { temporaryFolder } from '../engine/test/support/temporary.ts'
import { filesMatching, read, root } from '../test/support/documents.ts'

interface Resource {
  apiVersion: string
  kind: string
  spec: Record<string, unknown>
}

const resources: Resource[] = filesMatching('deploy/kubernetes/*.yaml').flatMap((path) =>
  parseAllDocuments(read(path)).map((document) => document.toJS()),
)

test('the linters of Compose files and Dockerfiles report no problems', () => {
  const rules = { rules: {}, quiet: false, debug: false, exclude: [] }
  const results = new DCLinter(rules).lintFiles([join(root, 'deploy/compose.yaml')], false)
  expect(results).toMatchObject([{ messages: [] }])
  expect(validate(read('deploy/Dockerfile'))).toEqual([])
})

test('the manifests are valid by the schemas of Kubernetes', async () => {
  for (const resource of resources) {
    const { [resource.kind]: Model } = await import(moduleOf(resource))
    expect(() => new Model(resource).validate(), resource.kind).not.toThrow()
  }
})

test('the manifests have no field that Kubernetes does not know', async () => {
  // With a field that is wrong, to see that the check finds it.
  const wrong = resources.map((each) => ({ ...each, spec: { ...each.spec, replica: 1 } }))
  const problems = (await compile([...resources, ...wrong])).trim().split('\n')
  expect(problems.filter((line) => !line.includes(`'"replica"' does not exist`))).toEqual([])
  expect(problems).toHaveLength(resources.length)
})

function moduleOf({ apiVersion, kind }: Resource): string {
  const isOperators = apiVersion.startsWith('monitoring.coreos.com/')
  return `${isOperators ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}/${kind}`
}

/** The schemas allow unknown fields, so the compiler checks them: it refuses unknown properties of a literal. */
async function compile(listed: Resource[]): Promise<string> {
  const folder = temporaryFolder()
  symlinkSync(join(import.meta.dirname, 'node_modules'), join(folder, 'node_modules'))
  const literals = listed.map(
    (resource) => `${JSON.stringify(resource)} satisfies import('${moduleOf(resource)}').I${resource.kind}`,
  )
  writeFileSync(join(folder, 'resources.ts'), `export const resources = [\n${literals.join(',\n')}\n]`)
  const words = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'preserve', '--types', '', 'resources.ts']
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), ...words]
  const { stdout } = await promisify(execFile)(process.execPath, tsc, { cwd: folder }).catch((error) => error)
  return stdout
}
