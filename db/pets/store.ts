import type { Entity, Found, NewEntity, PageQuery, SearchQuery } from '../resource.ts'
import type { Once } from '../store.ts'
import type { PetCounts, petFilters, petSearch } from './shared.ts'
import type { pets } from './sqlite.ts'

export type Pet = Entity<typeof pets>
export type NewPet = NewEntity<typeof pets>

export type PetQuery = PageQuery<typeof pets, (typeof petFilters)[number]>

export type PetSearch = SearchQuery<typeof pets, typeof petFilters, typeof petSearch>

export interface PetStore {
  list(query: PetQuery): Promise<Pet[]>
  search(query: PetSearch, signal?: AbortSignal): Promise<Found<typeof pets>>
  get(id: bigint): Promise<Pet | undefined>
  counts(): Promise<PetCounts>
  /** Resolves when the pet is on disk, where it survives a crash of the process and a loss of power. */
  create(pet: NewPet, once?: Once): Promise<Pet>
}
