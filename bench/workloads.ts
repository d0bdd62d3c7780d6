import Database from 'better-sqlite3'
import superjson from 'superjson'
import { petStatuses } from '../db/store.ts'

/** What a load consists of: makes each next request, as the bytes to be sent. */
export type NextRequest = () => Buffer

export interface Target {
  port: number
  key: string
  /** The path of the database, or its URL, and the number of pets that were in it at first. */
  database: string
  pets: number
}

export const workloads = {
  /** The same page again and again. */
  'list-hot': (target: Target) => always(get(target, '/v1/pets?limit=20')),
  /** Each list finds a database that has just been changed, by another process. */
  'list-cold': listCold,
  'list-any': (target: Target) => () =>
    get(target, `/v1/pets?limit=${1 + below(100)}&cursor=${below(target.pets - 100)}`),
  get: (target: Target) => () => get(target, `/v1/pets/${1 + below(target.pets)}`),
  create: (target: Target) => () => create(target),
  mixed: (target: Target) => mixed(target),
  'rpc-list': (target: Target) => always(get(target, '/trpc/pets.list')),
  'rpc-page': (target: Target) => always(get(target, `/trpc/pets.list?input=${input({ limit: 100 })}`)),
  'rpc-page-cold': (target: Target) => () =>
    get(target, `/trpc/pets.list?input=${input({ limit: 100, cursor: BigInt(below(target.pets - 100)) })}`),
  'rpc-create': (target: Target) => () => rpcCreate(target),
  'list-first': (target: Target) => () => get(target, `/v1/pets?limit=20&${nonce()}`),
  'list-last': (target: Target) => () => get(target, `/v1/pets?limit=20&cursor=${nearEnd(target)}&${nonce()}`),
  'list-status-first': (target: Target) => () => get(target, `/v1/pets?limit=20&status=sold&${nonce()}`),
  'list-status-last': (target: Target) => () =>
    get(target, `/v1/pets?limit=20&status=sold&cursor=${nearEnd(target)}&${nonce()}`),
} satisfies Record<string, (target: Target) => NextRequest>

export type Workload = keyof typeof workloads

function listCold(target: Target): NextRequest {
  const database = new Database(target.database, { timeout: 1_000 })
  // The load has to change the file, not to keep it.
  database.pragma('synchronous = OFF')
  const insert = database.prepare("INSERT INTO pets (name, category_id, status) VALUES ('cold', 1, ?)")
  return () => {
    insert.run(oneOf(petStatuses))
    const status = oneOf([...petStatuses.map((name) => `&status=${name}`), ''])
    return get(target, `/v1/pets?limit=${1 + below(100)}${status}`)
  }
}

/** 90 lists, 5 gets and 5 creations in a hundred. */
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

function input(value: unknown): string {
  return encodeURIComponent(superjson.stringify(value))
}

function get({ port, key }: Target, path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n\r\n`)
}

function post({ port, key }: Target, path: string, body: string): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}`
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`
  return Buffer.from(`${head}\r\n${type}\r\n\r\n${body}`)
}

/** A parameter that nobody knows: the answer is not in the service's memory yet. */
function nonce(): string {
  return `nonce=${below(1e9)}`
}

/** The cursor of a page that is full, also of one status, and among the last. */
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
  return values[below(values.length)] as T
}
