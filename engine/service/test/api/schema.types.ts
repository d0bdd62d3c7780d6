import type { NewPet, Pet } from '../../../../db/pets/pets.ts'
import type { NewPet as NewPetOfApi, Pet as PetOfApi } from '../../../../server/pets/pets.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** One object type instead of an intersection. */
type Flat<T> = { [Name in keyof T]: T[Name] }

type Holds<T extends true> = T

/** The compiler checks that the schemas have the fields of the tables, and no others. */
export type SchemasFitTables = [Holds<Equal<Flat<PetOfApi>, Flat<Pet>>>, Holds<Equal<Flat<NewPetOfApi>, Flat<NewPet>>>]
