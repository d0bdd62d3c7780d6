import { createServer } from 'node:http'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import type { NewPet } from './database.ts'

/**
 * The ceiling for creates on this machine: bare `node:http` and a thread with group commit, like that of the service, but
 * without any check of the API key or the body.
 */

const [path = '', port] = process.argv.slice(2)

if (isMainThread) serve()
else commitBatches()

function serve(): void {
  const thread = new Worker(new URL(import.meta.url), { argv: [path] })
  let inFlight: { pet: NewPet; answer: (id: number) => void }[] = []
  let waiting: typeof inFlight = []

  function flush(): void {
    if (inFlight.length > 0 || waiting.length === 0) return
    inFlight = waiting
    waiting = []
    thread.postMessage(inFlight.map(({ pet }) => pet))
  }

  thread.on('message', (ids: number[]) => {
    const answered = inFlight
    inFlight = []
    flush()
    for (const [index, { answer }] of answered.entries()) answer(ids[index] ?? 0)
  })

  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      if (text === '') return void response.writeHead(401).end()
      const pet = JSON.parse(text)
      const answer = (id: number) => {
        const body = JSON.stringify({ id, ...pet })
        const type = 'application/json; charset=utf-8'
        response.writeHead(201, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
      }
      waiting.push({ pet, answer })
      return flush()
    })
  })
  server.listen(Number(port), '127.0.0.1')
}

function commitBatches(): void {
  const database = new Database(path, { fileMustExist: true })
  database.pragma('synchronous = FULL')
  const insert = database.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)')
  const add = ({ name, categoryId, status }: NewPet) => insert.run(name, categoryId, status).lastInsertRowid
  const commit = database.transaction((pets: NewPet[]) => pets.map(add))
  parentPort?.on('message', (pets: NewPet[]) => parentPort?.postMessage(commit.immediate(pets)))
}
