import type { IdempotencyKey } from './idempotency.ts'
import type { Structured, Value } from './row.ts'

export interface MutationResult {
  /** What the mutation has generated. Undefined if it found no row to change. */
  generated: object | undefined
  /** Whether it is the result of an earlier call with the same idempotency key. */
  isReplay: boolean
}

/** An input that has a fingerprint. */
export type Fingerprinted<Input> = { [Name in keyof Input]: Structured<Input[Name]> }

/** A result that is equal when it is replayed: it is stored as text. */
export type Replayable<Result> = { [Name in keyof Result]: Value | undefined | readonly Value[] }

/** On whose behalf a mutation runs. */
export interface Caller extends Pick<IdempotencyKey, 'owner'> {
  key?: string | undefined
  /** The name of the API key, for the history. */
  name?: string
  /** How many mutations may still run, by default any number. With a key, a second one would get the result of the first. */
  mutationsLeft?: number | undefined
  /** Called if the result is that of an earlier mutation with the same idempotency key. */
  onReplay?: (() => void) | undefined
}

/** What the statements of a mutation get of its input. An optional field is absent, and never null. */
export type Given<Input> = {
  [Name in keyof Input]: Exclude<Input[Name], null> | (null extends Input[Name] ? undefined : never)
}

/** A mutation whose method adds what it generates to its input. */
export interface AddingMutation<Input, Generated> {
  fields: readonly (keyof Input & string)[]
  /** Only a type: no mutation has it. */
  method?: (input: Input, caller?: Caller) => Promise<Generated & Input>
}

export type RunMutation = (values: unknown[], idempotency: IdempotencyKey | undefined) => Promise<MutationResult>

/** Makes the method of a mutation: `run` gets the values of its input, and `outputOf` makes the output of what they generate. */
export function methodOf<Input, Output>(
  valuesOf: (input: Input, caller: Caller | undefined) => unknown[],
  run: RunMutation,
  outputOf: (generated: object | undefined, input: Input) => Output,
) {
  return async (input: Input, caller?: Caller): Promise<Output> => {
    if (caller?.mutationsLeft === 0)
      throw new Error(
        'A route, or a procedure that replays, runs one mutation. Make one of several, with changes or statements.',
      )
    if (caller?.mutationsLeft) caller.mutationsLeft--
    const idempotency = caller?.key === undefined ? undefined : { owner: caller.owner, key: caller.key }
    const { generated, isReplay } = await run(valuesOf(input, caller), idempotency)
    if (isReplay) caller?.onReplay?.()
    return outputOf(generated, input)
  }
}

/** Makes the method of a mutation that adds what it generates to the input. `run` gets the values of these fields. */
export function addingMethodOf<Input extends object, Generated extends object>(
  fields: readonly (keyof Input)[],
  run: RunMutation,
) {
  const valuesOf = (input: Input) => fields.map((field) => input[field] ?? null)
  return methodOf(valuesOf, run, (generated, input) => {
    const output: Partial<Input> = { ...generated }
    // A field that is undefined is absent.
    for (const field of fields) if (input[field] !== undefined) output[field] = input[field]
    // Safe: an operation is the name of one mutation, so these are the fields that it generates.
    return output as Generated & Input
  })
}

/** The input of which {@link addingMethodOf} made these values. */
export function inputOf(fields: readonly string[], values: unknown[]): object {
  return Object.fromEntries(fields.flatMap((field, index) => (values[index] === null ? [] : [[field, values[index]]])))
}
