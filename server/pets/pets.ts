import { z } from 'zod'
import { Int64, line, mustBe, partOfLine, resource } from '#service'
import { maxCount, maxNameLength, petStatuses } from '../../db/pets/rules.ts'
import type { Store } from '../../db/store.ts'
import { mutation, query, router } from '../trpc.ts'

export const PetStatus = z
  .enum(petStatuses, { error: mustBe(`one of ${petStatuses.join(', ')}`) })
  .meta({ id: 'PetStatus', description: 'Availability of the pet.', examples: ['available'] })
export type PetStatus = z.infer<typeof PetStatus>

const fields = {
  name: line(maxNameLength).meta({
    description: "The pet's name: not only white space, no control characters. It is kept exactly as sent.",
    examples: ['Rex'],
  }),
  categoryId: Int64.meta({ description: 'Identifier of the category the pet belongs to.', examples: [7] }),
  status: PetStatus,
}

export const NewPet = z
  .object({ ...fields, status: PetStatus.default('available') }, { error: mustBe('an object') })
  .meta({ id: 'NewPet', description: 'A pet to be added.' })
export type NewPet = z.infer<typeof NewPet>

export const Pet = z
  .object({
    id: Int64.meta({ description: 'Unique identifier, assigned by the service on creation.', examples: [1] }),
    ...fields,
  })
  .meta({ id: 'Pet', description: 'A pet of the store.' })
export type Pet = z.infer<typeof Pet>

const pet = resource({
  one: 'pet',
  many: 'pets',
  item: Pet,
  fields,
  filters: { status: PetStatus.optional().meta({ description: 'Returns only pets with this availability status.' }) },
  search: {
    name: partOfLine(maxNameLength).optional().meta({
      description:
        'Returns only pets whose name contains each word of this text, in any order and case. Dashes separate words, and accents of Latin letters make no difference.',
    }),
    categoryId: Int64.optional().meta({ description: 'Returns only pets of this category.' }),
  },
})

export const petTransfer = pet.transfer(NewPet, ({ pets }: Store) => pets)

const tag = { name: 'pets', description: 'The pets of the store.' }

export const petsRouter = router({
  list: query({
    tag,
    openapi: {
      method: 'GET',
      path: '/pets',
      operationId: 'listPets',
      summary: 'List all pets',
      description: 'Returns a paginated list of pets, in ascending order of their ids.',
      successDescription: 'A page of pets.',
    },
    cache: true,
  })
    .input(pet.listInput)
    .output(pet.listOutput)
    .query(({ ctx, input }) => ctx.store.pets.list(input)),

  create: mutation({
    tag,
    openapi: {
      method: 'POST',
      path: '/pets',
      operationId: 'createPet',
      summary: 'Add a pet',
      description: 'Adds a new pet. When the response arrives, the pet is stored.',
      successDescription: 'The created pet.',
    },
    idempotencyKey: 'replays',
    creates: 'pet',
  })
    .input(NewPet)
    .output(Pet)
    .mutation(({ ctx, input }) => ctx.store.pets.create(input, ctx.caller)),

  /**
   * Changes fields of a pet; the others stay. With `expected`, nothing changes if somebody has changed one of these fields
   * since they were read, and the call fails with `conflict`.
   */
  update: mutation({ idempotencyKey: 'replays' })
    .input(pet.updateInput)
    .output(Pet)
    .mutation(({ ctx, input: { petId, expected, ...set } }) =>
      pet.orNotFound(petId, (id) => ctx.store.pets.update({ id, set, expected }, ctx.caller)),
    ),

  /** Removes a pet. Its id is never used again. `expected` is that of `update`. */
  remove: mutation({ idempotencyKey: 'replays' })
    .input(pet.removeInput)
    .output(pet.removeOutput)
    .mutation(({ ctx, input: { petId, expected } }) =>
      pet.orNotFound(petId, (id) => ctx.store.pets.remove({ id, expected }, ctx.caller)),
    ),

  /**
   * Reads who has updated or removed pets, when, and what has changed, the newest change first. The key must be one
   * that may write.
   */
  history: query({ access: 'write' })
    .input(pet.historyInput)
    .output(pet.historyOutput)
    .query(async ({ ctx, input: { petId, ...page } }) =>
      pet.historyOf(await ctx.store.pets.history({ ...page, rowId: petId })),
    ),

  /** @deprecated To be removed on 5 December 2030. Use `pets.list` with the `status` filter. */
  get: query({
    tag,
    openapi: {
      method: 'GET',
      path: '/pets/{petId}',
      operationId: 'getPet',
      summary: 'Get a pet',
      description: 'Returns one pet by its identifier.',
      deprecated: true,
      successDescription: 'The pet.',
      errorResponses: { 404: 'No pet has this id.' },
    },
    deprecation: {
      since: new Date('2026-11-20T00:00:00Z'),
      sunset: new Date('2030-12-05T00:00:00Z'),
      successor: '/pets',
      replacement: '`GET /pets` with the `status` filter',
    },
  })
    .input(pet.getInput)
    .output(Pet)
    .query(({ ctx, input }) => pet.orNotFound(input.petId, (id) => ctx.store.pets.get(id))),

  /**
   * Finds pets by an id, a part of the name, a category or a status. Each call compares some thousand pets, and `next` says
   * where the next one continues.
   */
  search: query({ cache: true })
    .input(pet.searchInput)
    .output(pet.searchOutput)
    .query(({ ctx, input }) => ctx.store.pets.search(input, ctx.searcher())),

  /** Counts the pets of each status up to 10,000. If `isExact` is false, there are more. */
  counts: query({ cache: true })
    .output(pet.countsOutput(petStatuses, maxCount))
    .query(({ ctx }) => ctx.store.pets.counts()),
})
