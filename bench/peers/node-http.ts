import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import {
  createPet,
  getPet,
  invalid,
  isAuthorized,
  listPets,
  type NewPet,
  notFound,
  type PetQuery,
  port,
  type Status,
  unauthorized,
} from './database.ts'

/** Bare `node:http` with hand-written parsing and validation: the cost of a request without a framework. */

const collection = '/v1/pets'
const statuses: ReadonlySet<unknown> = new Set<Status>(['available', 'pending', 'sold'])

const server = createServer((request, response) => {
  if (!isAuthorized(request.headers.authorization)) send(response, 401, unauthorized)
  else if (request.method === 'POST') readBody(request, (body) => answer(request, response, body))
  else answer(request, response, '')
})

function readBody(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => done(Buffer.concat(chunks).toString()))
}

function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  try {
    route(request, response, body)
  } catch {
    send(response, 500, { code: 'internal_error', message: 'The request failed.', status: 500 })
  }
}

function route({ method, url = '' }: IncomingMessage, response: ServerResponse, body: string): void {
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  if (path === collection && method === 'GET') list(mark === -1 ? '' : url.slice(mark + 1), response)
  else if (path === collection && method === 'POST') create(body, response)
  else if (path.startsWith(`${collection}/`) && method === 'GET') get(path.slice(collection.length + 1), response)
  else send(response, 404, notFound)
}

function list(search: string, response: ServerResponse): void {
  const query = toPetQuery(new URLSearchParams(search))
  if (query) send(response, 200, listPets(query))
  else send(response, 400, invalid)
}

function get(petId: string, response: ServerResponse): void {
  const id = Number(petId)
  if (Number.isInteger(id)) {
    const found = getPet(id)
    send(response, found ? 200 : 404, found ?? notFound)
  } else {
    send(response, 400, invalid)
  }
}

function create(body: string, response: ServerResponse): void {
  const pet = toNewPet(body)
  if (pet) {
    const created = createPet(pet)
    response.setHeader('location', `${collection}/${created.id}`)
    send(response, 201, created)
  } else {
    send(response, 400, invalid)
  }
}

function toPetQuery(parameters: URLSearchParams): PetQuery | undefined {
  const limit = Number(parameters.get('limit') ?? 20)
  const cursor = Number(parameters.get('cursor') ?? 0)
  const status = parameters.get('status') ?? undefined
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) return undefined
  if (!Number.isInteger(cursor) || cursor < 0) return undefined
  if (status !== undefined && !isStatus(status)) return undefined
  return { limit, cursor, status }
}

function toNewPet(json: string): NewPet | undefined {
  const body = parse(json)
  if (typeof body !== 'object' || body === null) return undefined
  // Safe: each property is checked below before use.
  const { name, categoryId, status = 'available' } = body as Partial<Record<keyof NewPet, unknown>>
  if (typeof name !== 'string' || name.length < 1 || name.length > 255) return undefined
  if (typeof categoryId !== 'number' || !Number.isInteger(categoryId)) return undefined
  if (!isStatus(status)) return undefined
  return { name, categoryId, status }
}

function isStatus(value: unknown): value is Status {
  return statuses.has(value)
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

server.listen(port, '127.0.0.1')
