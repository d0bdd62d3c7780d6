import { expect, test } from 'vitest'
import { startTestApi } from '../../../test/notes/tests.ts'

const paths = [
  '__proto__.polluted',
  'constructor.prototype.polluted',
  '__proto__',
  'constructor',
  'a.__proto__.polluted',
]

test('no name of a field, parameter, header or annotation changes the prototype of objects', async () => {
  const { rest } = await startTestApi()
  const note = '"body":"Ann","priority":7'
  for (const name of ['__proto__', 'constructor', 'prototype']) {
    const nested = `{${note},"${name}":{"polluted":true,"prototype":{"polluted":true}}}`
    expect((await rest.post('/v1/notes', nested)).status).toBe(201)
    expect((await rest.get(`/v1/notes?${name}[polluted]=1&${name}.polluted=1&${name}=1`)).status).toBe(200)
    expect((await rest.get('/v1/notes', { [name]: 'polluted' })).status).toBe(200)
  }
  for (const path of paths) {
    for (const meta of [{ values: { [path]: ['bigint'] } }, { referentialEqualities: { name: [path] } }]) {
      const input = { json: { body: 'Ann', priority: '7', a: {} }, meta }
      const responses = [
        await rest.post('/trpc/notes.create', input),
        await rest.get(`/trpc/notes.list?input=${encodeURIComponent(JSON.stringify(input))}`),
      ]
      for (const { status } of responses) expect(status).toBeLessThan(500)
    }
  }
  expect('polluted' in {}).toBe(false)
  expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted')
})
