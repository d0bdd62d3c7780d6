import Database from 'better-sqlite3'
import superjson from 'superjson'
import { petStatuses } from '../db/pets/pets.ts'

/** Returns the bytes of the next request. */
export type NextRequest = () => Buffer

export interface Target {
  port: number
  key: string
  /** The path or the URL of the database. */
  database: string
  /** The number of pets at the start. */
  pets: number
  /** The `Accept-Encoding` of reads. By default they have none. */
  acceptEncoding?: string | undefined
}

export const workloads = {
  /** Repeats the same request. */
  'list-hot': (target: Target) => always(get(target, '/v1/pets?limit=20')),
  /** Another process changes the database before each request. */
  'list-cold': listCold,
  'list-any': (target: Target) => () =>
    get(target, `/v1/pets?limit=${1 + below(100)}&cursor=${below(target.pets - 100)}`),
  page: (target: Target) => () => get(target, `/v1/pets?limit=20&cursor=${below(target.pets - 100)}`),
  'page-100': (target: Target) => () => get(target, `/v1/pets?limit=100&cursor=${below(target.pets - 100)}`),
  get: (target: Target) => () => get(target, `/v1/pets/${1 + below(target.pets)}`),
  create: (target: Target) => () => create(target),
  mixed: (target: Target) => mixed(target),
  'rpc-list': (target: Target) => always(get(target, '/trpc/pets.list')),
  'rpc-page': (target: Target) => always(get(target, `/trpc/pets.list?input=${input({ limit: 100 })}`)),
  'rpc-page-cold': (target: Target) => () =>
    get(target, `/trpc/pets.list?input=${input({ limit: 100, cursor: BigInt(below(target.pets - 100)) })}`),
  'rpc-create': (target: Target) => () => rpcCreate(target),
  'rpc-batch': (target: Target) => () => rpcBatch(target),
  'list-first': (target: Target) => () => get(target, `/v1/pets?limit=20&${nonce()}`),
  'list-last': (target: Target) => () => get(target, `/v1/pets?limit=20&cursor=${nearEnd(target)}&${nonce()}`),
  'list-status-first': (target: Target) => () => get(target, `/v1/pets?limit=20&status=sold&${nonce()}`),
  'list-status-last': (target: Target) => () =>
    get(target, `/v1/pets?limit=20&status=sold&cursor=${nearEnd(target)}&${nonce()}`),
} satisfies Record<string, (target: Target) => NextRequest>

export type Workload = keyof typeof workloads

function listCold(target: Target): NextRequest {
  const database = new Database(target.database, { timeout: 1_000 })
  // These changes need not be durable.
  database.pragma('synchronous = OFF')
  const insert = database.prepare("INSERT INTO pets (name, category_id, status) VALUES ('cold', 1, ?)")
  return () => {
    insert.run(oneOf(petStatuses))
    const status = oneOf([...petStatuses.map((name) => `&status=${name}`), ''])
    return get(target, `/v1/pets?limit=${1 + below(100)}${status}`)
  }
}

/** 90 % lists, 5 % gets and 5 % creates. */
function mixed(target: Target): NextRequest {
  const [list, one] = [workloads['list-hot'](target), workloads.get(target)]
  return () => {
    const draw = below(100)
    if (draw < 90) return list()
    return draw < 95 ? one() : create(target)
  }
}

function create(target: Target): Buffer {
  return post(target, '/v1/pets', `{"name":"pet ${below(1e6)}","categoryId":${below(50)},"status":"sold"}`)
}

function rpcCreate(target: Target): Buffer {
  const pet = { name: `pet ${below(1e6)}`, categoryId: BigInt(below(50)), status: 'sold' }
  return post(target, '/trpc/pets.create', superjson.stringify(pet))
}

/** Ten gets in one request. */
function rpcBatch(target: Target): Buffer {
  const ids = Array.from({ length: 10 }, () => BigInt(1 + below(target.pets)))
  const inputs = Object.fromEntries(ids.map((petId, index) => [index, superjson.serialize({ petId })]))
  const path = ids.map(() => 'pets.get').join()
  return get(target, `/trpc/${path}?batch=1&input=${encodeURIComponent(JSON.stringify(inputs))}`)
}

function input(value: unknown): string {
  return encodeURIComponent(superjson.stringify(value))
}

function get({ port, key, acceptEncoding }: Target, path: string): Buffer {
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n`
  return Buffer.from(acceptEncoding ? `${head}Accept-Encoding: ${acceptEncoding}\r\n\r\n` : `${head}\r\n`)
}

function post({ port, key }: Target, path: string, body: string): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}`
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`
  return Buffer.from(`${head}\r\n${type}\r\n\r\n${body}`)
}

/** An unknown parameter, which makes the URL unique, so that the response cache has no response for it. */
function nonce(): string {
  return `nonce=${below(1e9)}`
}

/** The cursor of one of the last full pages, of all pets or of one status. */
function nearEnd({ pets }: Target): number {
  return pets - 100 - below(2_000)
}

function always(request: Buffer): NextRequest {
  return () => request
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit)
}

function oneOf<T>(values: readonly T[]): T {
  // Safe: the index is less than the length.
  return values[below(values.length)] as T
}
