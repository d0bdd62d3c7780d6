import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { innerOf } from '../../service/api/schema.ts'
import { type Procedure, proceduresOf } from '../../service/procedures/procedures.ts'
import { exampleOf } from '../../service/rest/document.ts'
import { decodeJson } from '../../service/rest/input.ts'
import type { Service } from '../../service/service.ts'
import type { WithApiKeys } from '../../store/keys.ts'
import { share } from './share.ts'
import { startTestService } from './test-api.ts'

const texts = ['\0', '\ud800', '\u0001', '\u007f', '\u0085', ' ', '\u2003', '\u{10ffff}', 'a\nb']
// Fits a URL.
const longText = 'x'.repeat(5_000)

/**
 * Tests that each text which a procedure accepts fits its place: if the database refuses what a schema accepts, such as a line
 * break, clients get 500. The other fields have the values of their examples.
 *
 * @returns the procedures and their texts, such as `notes.create body`
 */
export async function testTexts<Stores extends WithApiKeys>(service: Service<Stores>): Promise<string[]> {
  const { collections } = await service.store.forSqlite()
  const procedures = proceduresOf(service.router)
  const api = share(async (atEnd) => {
    const { rpc, log } = await startTestService(service, { atEnd })
    const call = callsOf(rpc)
    // In the order of their references, so that the ids of examples are those of rows.
    for (const name of Object.keys(collections)) {
      const create = procedures.find((each) => each.name === `${name}.create`)
      if (create) await call(create, exampleOfInput(create))
    }
    return { call, log }
  })
  const places = procedures.flatMap((procedure) => {
    const input = inputOf(procedure)
    const fields = Object.keys(input?.shape ?? {})
    return fields
      .filter((field) => input && innerOf(input.shape[field]) instanceof z.ZodString)
      .map((field) => ({ name: procedure.name, field, procedure }))
  })
  describe.for(places)('the text $field of $name', ({ field, procedure }) => {
    test.for([...texts.map((text) => [JSON.stringify(text), text]), ['a long one', longText]])(
      '%s is refused, or fits',
      async ([, text]) => {
        const { call, log } = api()
        const input = { ...exampleOfInput(procedure, field), [field]: text }
        const status = await call(procedure, input).then(
          () => 200,
          (error: unknown) => Object(error).data?.status,
        )
        expect(
          [200, 400, 409, 422],
          log.findLast((line) => line.includes('"err"')),
        ).toContain(status)
      },
    )
  })
  return places.map(({ name, field }) => `${name} ${field}`)
}

/** Calls procedures with a client, whose type has no names here. */
function callsOf(rpc: unknown) {
  return ({ name, type }: Procedure, input: object): Promise<unknown> => {
    const path = [...name.split('.'), type === 'query' ? 'query' : 'mutate']
    return path.reduce((part, key) => Object(part)[key], rpc as (input: object) => Promise<unknown>)(input)
  }
}

function inputOf({ inputs }: Procedure): z.ZodObject | undefined {
  const [input] = inputs
  const inner = input instanceof z.ZodType ? innerOf(input) : undefined
  return inner instanceof z.ZodObject ? inner : undefined
}

/** The examples of all fields but for one. */
function exampleOfInput(procedure: Procedure, except = ''): object {
  // What the caller has seen is another thing after each test.
  const { [except]: _, expected: __, ...shape } = inputOf(procedure)?.shape ?? {}
  const example = exampleOf(z.object(shape))
  if (example === undefined)
    throw new Error(`A required field of ${procedure.name} has no example: add .meta({ examples: [...] }).`)
  return Object(decodeJson(z.object(shape), procedure.name)(example))
}
