import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { definition } from '../../db/store.ts'
import { filesOf, modulesOf, patternsFor } from '../../sources.ts'
import { temporaryFolder } from '../support/temporary.ts'

const root = join(import.meta.dirname, '../..')
const biome = join(root, 'node_modules/.bin/biome')

/** Imports by the file that would contain them. The lint rules of biome.json allow the first list and refuse the second. */
const rules: Record<string, { allowed: string[]; refused: string[] }> = {
  'server/app.ts': {
    allowed: ['./rest/adapter.ts', './ops/keys.ts', '../db/open.ts', '../db/keys/store.ts'].map(valueFrom),
    refused: [
      valueFrom('../db/sqlite/store/store.ts'),
      valueFrom('../db/copy/copy.ts'),
      valueFrom('../db/sqlite/backup/a.ts'),
    ],
  },
  'server/cli/keys.ts': {
    allowed: ['commander', '../ops/keys.ts', '../../db/open.ts', '../../db/keys/store.ts'].map(valueFrom),
    refused: ['../../db/sqlite/store/store.ts', '../../db/copy/copy.ts', 'better-sqlite3', 'pg'].map(valueFrom),
  },
  'server/api/validation.ts': {
    allowed: [
      valueFrom('./errors.ts'),
      valueFrom('../../db/base-store.ts'),
      "import type { OpenApiMeta } from 'trpc-to-openapi'",
    ],
    refused: [
      ...['../http/server.ts', '../auth/bearer.ts', '../config.ts', '../../db/open.ts'].map(valueFrom),
      valueFrom('../../db/keys/store.ts'),
      ...['fastify', 'node:http', '@fastify/cors', 'better-sqlite3', 'pg', 'drizzle-orm'].map(valueFrom),
      valueFrom('trpc-to-openapi'),
      "import type { Store } from '../http/response-cache.ts'",
      "export async function load() { await import('../http/server.ts') }",
    ],
  },
  'server/pets/pets.ts': {
    allowed: [
      ...['zod', './transfer.ts', '../trpc.ts', '../api/page.ts', '../ops/transfer/resource.ts'].map(valueFrom),
      ...['../../db/pets/pets.ts', '../../db/store.ts', '../../db/errors.ts'].map(valueFrom),
    ],
    refused: [
      ...['../http/server.ts', '../rest/adapter.ts', '../rpc/adapter.ts', '../auth/bearer.ts'].map(valueFrom),
      ...['../ops/keys.ts', '../config.ts', '../router.ts', '../../db/open.ts'].map(valueFrom),
      ...['../../db/sqlite/schema.ts', '../../db/sqlite/store/store.ts', 'fastify', 'pg'].map(valueFrom),
    ],
  },
  'server/another-resource/procedures.ts': {
    allowed: [valueFrom('../api/page.ts')],
    refused: [valueFrom('../rest/adapter.ts')],
  },
  'server/auth/bearer.ts': {
    allowed: [
      ...['../api/errors.ts', '../cache/revision-cache.ts'].map(valueFrom),
      "import type { BaseStore } from '../../db/base-store.ts'",
    ],
    refused: [
      ...['../http/server.ts', '../rest/adapter.ts', '../../db/base-store.ts', '../../db/open.ts'].map(valueFrom),
      ...['better-sqlite3', 'pg', 'drizzle-orm/pg-core', 'trpc-to-openapi'].map(valueFrom),
    ],
  },
  'server/cache/response-cache.ts': {
    allowed: [valueFrom('./revision-cache.ts'), "import type { BaseStore } from '../../db/base-store.ts'"],
    refused: ['../api/errors.ts', '../http/server.ts', '../../db/base-store.ts', '../../db/open.ts'].map(valueFrom),
  },
  'server/http/health.ts': {
    allowed: [
      valueFrom('fastify'),
      ...['../api/errors.ts', '../cache/entity-tag.ts'].map(valueFrom),
      "import type { BaseStore } from '../../db/base-store.ts'",
    ],
    refused: [
      ...['../auth/bearer.ts', '../rest/input.ts', '../rpc/adapter.ts', '../log.ts', '../../db/base-store.ts'].map(
        valueFrom,
      ),
      ...['@trpc/server', '../api/trpc.ts', '../api/trpc.ts', '../api/procedures.ts'].map(valueFrom),
    ],
  },
  'server/rest/adapter.ts': {
    allowed: ['../api/errors.ts', '../auth/bearer.ts', '../http/routing.ts', 'trpc-to-openapi'].map(valueFrom),
    refused: ['../rpc/adapter.ts', '../ops/keys.ts', '../app.ts', '../../db/base-store.ts', 'pg'].map(valueFrom),
  },
  'server/rpc/adapter.ts': {
    allowed: ['../api/errors.ts', '../auth/bearer.ts', '../http/routing.ts'].map(valueFrom),
    refused: ['../rest/adapter.ts', '../ops/keys.ts', '../app.ts', '../../db/base-store.ts', 'trpc-to-openapi'].map(
      valueFrom,
    ),
  },
  'server/telemetry/metrics.ts': {
    allowed: ['@prometheus-io/client', '../api/errors.ts', '../http/routing.ts', '../../db/base-store.ts'].map(
      valueFrom,
    ),
    refused: ['../rest/adapter.ts', '../rpc/adapter.ts', '../auth/bearer.ts', '../ops/keys.ts', '../app.ts', 'pg'].map(
      valueFrom,
    ),
  },
  'server/systemd/notify.ts': {
    allowed: [valueFrom('node:child_process')],
    refused: ['../http/health.ts', '../../db/base-store.ts'].map(valueFrom),
  },
  'server/ops/database.ts': {
    allowed: ['../auth/api-key.ts', '../../db/open.ts', '../../db/copy/a.ts', '../../db/sqlite/backup/a.ts'].map(
      valueFrom,
    ),
    refused: [
      ...['../api/errors.ts', '../http/server.ts', '../config.ts', 'fastify', 'better-sqlite3'].map(valueFrom),
      ...['../../db/sqlite/store/store.ts', '../../db/sqlite/file/files.ts', '../../db/postgres/store.ts'].map(
        valueFrom,
      ),
    ],
  },
  'server/ops/transfer/import.ts': {
    allowed: ['./rows.ts', '../operator-error.ts', '../../api/int64.ts', '../../../db/base-store.ts'].map(valueFrom),
    refused: [
      ...['../../api/errors.ts', '../../http/server.ts', '../../config.ts', 'fastify', 'pg'].map(valueFrom),
      ...['../../pets/pets.ts', '../../../db/sqlite/store/store.ts', '../../../db/postgres/store.ts'].map(valueFrom),
    ],
  },
  'db/base-store.ts': { allowed: [valueFrom('pg')], refused: [valueFrom('../server/log.ts')] },
  'db/sqlite/backup/backup.ts': {
    allowed: ['better-sqlite3', 'drizzle-orm', '../file/files.ts', '../../store.ts'].map(valueFrom),
    refused: [valueFrom('../../../server/log.ts'), valueFrom('../../../server/api/errors.ts')],
  },
  'client/index.ts': {
    allowed: ["import type { AppRouter } from '../server/router.ts'", valueFrom('@trpc/client')],
    refused: ['../server/router.ts', '../server/pets/pets.ts', '../db/store.ts', 'pg'].map(valueFrom),
  },
  'web/app.tsx': {
    allowed: [valueFrom('../client/index.ts')],
    refused: [valueFrom('trpc-to-openapi'), valueFrom('pg')],
  },
  'web/bulk/export-items.ts': {
    allowed: ['../resource.ts', '../components/value.tsx', './write-file.ts'].map(valueFrom),
    refused: [...['../pets/pet.ts', 'pg'].map(valueFrom), "import type { Pet } from '../pets/pet.ts'"],
  },
  'web/requests/curl.ts': { allowed: [valueFrom('../resource.ts')], refused: [valueFrom('../pets/pet.ts')] },
  'web/resource/page.tsx': { allowed: [valueFrom('../resource.ts')], refused: [valueFrom('../pets/pet.ts')] },
  'web/components/value.tsx': { allowed: [valueFrom('../resource.ts')], refused: [valueFrom('../pets/pet.ts')] },
}

test('an import that the layer of a file does not allow fails the lint check', () => {
  // Each import is in a separate file, in the folder of the file whose rules it tests.
  const probes = Object.entries(rules).flatMap(([file, { allowed, refused }]) =>
    [...allowed, ...refused].map((code, index) => ({
      path: join(dirname(file), `probe-${basename(file, '.ts')}-${index}.ts`),
      code,
      isRefused: index >= allowed.length,
    })),
  )
  const reported = lint(Object.fromEntries(probes.map(({ path, code }) => [path, code])), 'noRestrictedImports')
  const describe = ({ path, code }: (typeof probes)[number]) => `${dirname(path)}: ${code}`
  expect(probes.filter(({ path }) => reported.has(path)).map(describe)).toEqual(
    probes.filter(({ isRefused }) => isRefused).map(describe),
  )
})

test('two files that import each other are refused, also if one of them imports only a type', () => {
  const files = {
    'db/a.ts': "import type { b } from './b.ts'\nexport type A = typeof b",
    'db/b.ts': "import type { A } from './a.ts'\nexport const b: A | 1 = 1",
    'db/c.ts': "export { b } from './b.ts'",
  }
  expect(lint(files, 'noImportCycles')).toEqual(new Set(['db/a.ts', 'db/b.ts']))
})

test('no folder of the service imports itself through other folders, also not for a type', () => {
  const graph = importsOfFolders()
  expect([...(graph.get('server/rest') ?? [])]).toContain('server/api')
  expect(cyclesIn(graph)).toEqual([])
})

test('the only files directly in server/ are those that compose the service', () => {
  const files = readdirSync(join(root, 'server'), { withFileTypes: true }).filter((entry) => entry.isFile())
  expect(files.map(({ name }) => name).toSorted()).toEqual([
    'app.ts',
    'config.ts',
    'launch.mjs',
    'log.ts',
    'main.ts',
    'node-version.mjs',
    'product.ts',
    'router.ts',
    'serve.ts',
    'service.ts',
    'trpc.ts',
  ])
})

test('the console names a field or a status of a pet only in web/pets', () => {
  const named = filesOfConsole(/categoryId|category_id|petStatus|PetStatus|\bPet\b|NewPet|['"](?:available|sold)['"]/)
  expect(named.filter((path) => !path.startsWith('web/pets/'))).toEqual([])
  // So a field is defined at one place.
  expect(filesOfConsole(/categoryId|category_id/)).toEqual(['web/pets/pet.ts'])
})

test('an engine names no resource, no field and no status of one, and imports neither one nor their list', () => {
  // A trailing slash means a folder.
  const folders = definition.names.flatMap((name) => [`server/${name}/`, `db/${name}/`])
  const apiKeys = ['server/auth/', 'db/keys/', 'server/cli/keys.ts', 'server/ops/keys.ts']
  const product = [
    'client/index.ts',
    'db/store.ts',
    'db/postgres/migrations/schema.ts',
    ...['main', 'router', 'service', 'trpc'].map((name) => `server/${name}.ts`),
  ]
  const sources = modulesOf('service', 'store', 'client')
  const others = [...folders, ...apiKeys, ...product]
  const engines = sources.filter((path) => !others.some((each) => path.startsWith(each)))
  expect(engines.length).toBeGreaterThan(100)
  const forbidden = [
    /\b(?:categoryId|category_id|petStatuses)\b/,
    /'(?:available|pending|sold)'/,
    // The fields of an API key. Its name and the time of its creation are words that other tables use too.
    /\b(?:expiresAt|expires_at|revokedAt|revoked_at|lastUsedAt|last_used_at)\b/,
    /\b(?:FROM|INTO|UPDATE|TABLE) api_keys\b/i,
    // Imports of a module of a resource, also dynamic ones and those of types.
    new RegExp(`['"](?:\\.\\.?/)+(?:server/|db/)?(?:${definition.names.join('|')})/`),
    /['"](?:\.\.?\/)+(?:db\/)?(?:store|router)\.ts/,
    /['"](?:\.\.\/)+(?:server\/)?service\.ts/,
  ]
  const found = engines.flatMap((path) => {
    const lines = readFileSync(join(root, path), 'utf8').split('\n')
    return lines.filter((line) => forbidden.some((each) => each.test(line))).map((line) => `${path}: ${line.trim()}`)
  })
  expect(found.toSorted()).toEqual([])
})

test('no folder has more than 16 source files, but for the support of the tests', () => {
  const sources = filesOf([
    '{bench,examples,interop,test}/**/*.{ts,tsx,mjs}',
    ...patternsFor(['client', 'store', 'service', 'console'], '.{ts,tsx,mjs}'),
  ])
  const folders = Map.groupBy(sources, (path) => dirname(path))
  expect(folders.size).toBeGreaterThan(30)
  const large = [...folders].filter(([, files]) => files.length > 16).map(([folder]) => folder)
  expect(large).toEqual(['test/support'])
})

/**
 * What each folder imports. The files directly in `server` and `db` are nodes of their own: some compose the folders below
 * them, and others, such as the configuration and the port of the store, are imported there.
 */
function importsOfFolders(): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const file of modulesOf('service', 'store', 'client')) {
    const [from, code] = [nodeOf(file), readFileSync(join(root, file), 'utf8')]
    const targets = [...code.matchAll(/\b(?:from|import) ?\(?'(\.[^']+\.(?:ts|mjs))'/g)]
      .map(([, path = '']) => nodeOf(join(dirname(file), path)))
      .filter((to) => to !== from)
    graph.set(from, new Set([...(graph.get(from) ?? []), ...targets]))
  }
  return graph
}

function nodeOf(file: string): string {
  return ['server', 'db'].includes(dirname(file)) ? file : dirname(file)
}

/** The groups of nodes that reach each other. */
function cyclesIn(graph: Map<string, Set<string>>): string[][] {
  const reached = new Map([...graph.keys()].map((start) => [start, reachableFrom(graph, start)]))
  const groups = [...reached].map(([start, nodes]) => [...nodes].filter((node) => reached.get(node)?.has(start)).sort())
  return [...new Set(groups.filter((group) => group.length > 0).map((group) => group.join(' ')))]
    .sort()
    .map((group) => group.split(' '))
}

/** Without the node itself, unless a cycle leads back to it. */
function reachableFrom(graph: Map<string, Set<string>>, start: string): Set<string> {
  const found = new Set<string>()
  const visit = (node: string) => {
    for (const next of graph.get(node) ?? []) {
      if (!found.has(next)) {
        found.add(next)
        visit(next)
      }
    }
  }
  visit(start)
  return found
}

/** The sources of the console whose text matches. */
function filesOfConsole(pattern: RegExp): string[] {
  const paths = filesOf(patternsFor(['console'], '.{ts,tsx,css,html}'))
  expect(paths.length).toBeGreaterThan(80)
  return paths.filter((path) => pattern.test(readFileSync(join(root, path), 'utf8'))).toSorted()
}

function valueFrom(module: string): string {
  return `export { something } from '${module}'`
}

/** Lints the files with the rules of the project and returns the paths of those that break the rule. */
function lint(files: Record<string, string>, rule: string): Set<string> {
  const folder = temporaryFolder()
  copyFileSync(join(root, 'biome.json'), join(folder, 'biome.json'))
  for (const [path, code] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), code)
  }
  const { stdout } = spawnSync(biome, ['lint', '--vcs-enabled=false', '--reporter=github', '--max-diagnostics=none'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const lines = stdout.split('\n').filter((line) => line.includes(`/${rule},`))
  return new Set(lines.map((line) => relative(folder, /file=(.*?),line/.exec(line)?.[1] ?? '')))
}
