import type { Entity, NewEntity } from '#store'
import type { pets } from '../../db/pets/pets.ts'
import type { NewPet, Pet } from '../../server/pets/pets.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** One object type instead of an intersection. */
type Flat<T> = { [Name in keyof T]: T[Name] }

/** The names of the fields that only one of the types has, or that have another type there. */
type Different<A, B> = {
  [Name in keyof A | keyof B]-?: Equal<Flat<Pick<A, Name & keyof A>>, Flat<Pick<B, Name & keyof B>>> extends true
    ? never
    : Name
}[keyof A | keyof B]

/** True, or what the compiler shows. */
type Fits<Api, Row> = [Different<Api, Row>] extends [never]
  ? true
  : { 'This field differs between server/pets/pets.ts and db/pets/pets.ts': Different<Api, Row> }

type Holds<T extends true> = T

/** The compiler checks that the schemas have the fields of the tables, and no others. */
export type SchemasFitTables = [Holds<Fits<Pet, Entity<typeof pets>>>, Holds<Fits<NewPet, NewEntity<typeof pets>>>]
