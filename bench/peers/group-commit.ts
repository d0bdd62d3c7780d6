import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { database, insertPet, type NewPet, type Pet } from './database.ts'

/** A thread that creates pets. Those that arrive while it commits share its next transaction, and so one fsync. */

interface Create {
  pet: NewPet
  done(created: Pet): void
}

let waiting: Create[] = []
let committing: Create[] = []
const thread = isMainThread ? new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) }) : undefined

thread?.on('message', (pets: Pet[]) => {
  const committed = committing
  committing = []
  commitNext()
  for (const [index, pet] of pets.entries()) committed[index]?.done(pet)
})

export function createInGroup(pet: NewPet, done: (created: Pet) => void): void {
  waiting.push({ pet, done })
  commitNext()
}

function commitNext(): void {
  if (committing.length > 0 || waiting.length === 0) return
  committing = waiting
  waiting = []
  thread?.postMessage(committing.map(({ pet }) => pet))
}

if (!isMainThread) {
  const commit = database.transaction((pets: NewPet[]) => pets.map(insertPet))
  parentPort?.on('message', (pets: NewPet[]) => parentPort?.postMessage(commit.immediate(pets)))
}
