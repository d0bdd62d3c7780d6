import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { NewPet, PetQuery, Status } from './database.ts'
import { createPet, failures, getPet, isAuthorized, listPets, port } from './database.ts'

/** Bare `node:http` with hand-written parsing and validation: the cost of a request without a framework. */

const collection = '/v1/pets'

const server = createServer((request, response) => {
  if (!isAuthorized(request.headers.authorization)) return fail(response, 401)
  const { method, url = '' } = request
  const [path = '', search = ''] = url.split('?')
  if (path === collection && method === 'GET') list(search, response)
  else if (path === collection && method === 'POST') create(request, response)
  else if (path.startsWith(`${collection}/`) && method === 'GET') get(path.slice(collection.length + 1), response)
  else fail(response, 404)
})

function list(search: string, response: ServerResponse): void {
  const query = toPetQuery(new URLSearchParams(search))
  if (query) send(response, 200, listPets(query))
  else fail(response, 400)
}

function get(petId: string, response: ServerResponse): void {
  const id = Number(petId)
  const found = Number.isInteger(id) ? getPet(id) : undefined
  if (found) send(response, 200, found)
  else fail(response, 404)
}

function create(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const pet = toNewPet(Buffer.concat(chunks).toString())
    if (!pet) return fail(response, 400)
    const created = createPet(pet)
    response.setHeader('location', `${collection}/${created.id}`)
    send(response, 201, created)
  })
}

function toPetQuery(parameters: URLSearchParams): PetQuery | undefined {
  const limit = Number(parameters.get('limit') ?? 20)
  const cursor = Number(parameters.get('cursor') ?? 0)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) return undefined
  return Number.isInteger(cursor) && cursor >= 0 ? { limit, cursor } : undefined
}

function toNewPet(json: string): NewPet | undefined {
  // Safe: each property is checked below before use.
  const { name, categoryId, status = 'available' } = parse(json) as Partial<Record<keyof NewPet, unknown>>
  if (typeof name !== 'string' || name.length < 1 || name.length > 255) return undefined
  if (typeof categoryId !== 'number' || !Number.isInteger(categoryId) || !isStatus(status)) return undefined
  return { name, categoryId, status }
}

function isStatus(value: unknown): value is Status {
  return value === 'available' || value === 'pending' || value === 'sold'
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) ?? {}
  } catch {
    return {}
  }
}

function fail(response: ServerResponse, status: keyof typeof failures): void {
  send(response, status, failures[status])
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value)
  const type = 'application/json; charset=utf-8'
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}

server.listen(port, '127.0.0.1')
