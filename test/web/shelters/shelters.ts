import type { TRPCClient } from '@trpc/client'
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import type { PetstoreClient } from '../../../client/index.ts'
import { textsOf } from '../../../web/messages/texts.ts'
import { type ResourceTextsOf, resourceOf } from '../../../web/resource.ts'
import type { FixtureRouter } from '../../fixture/router.ts'

type Shelter = inferRouterOutputs<FixtureRouter>['shelters']['create']
type NewShelter = inferRouterInputs<FixtureRouter>['shelters']['create']

const english: ResourceTextsOf<Shelter> = {
  noun: { one: 'shelter', many: 'shelters' },
  labels: {
    id: 'Id',
    name: 'Name',
    city: 'City',
    capacity: 'Capacity',
    isOpen: 'Access',
    note: 'Note',
    registration: 'Registration',
    mascotId: 'Mascot',
    createdAt: 'Added',
  },
  choices: { isOpen: { true: 'Open', false: 'Closed' } },
}

const german: ResourceTextsOf<Shelter> = {
  ...english,
  noun: { one: 'Tierheim', many: 'Tierheime' },
  choices: { isOpen: { true: 'Offen', false: 'Geschlossen' } },
}

const text = { kind: 'text', maxLength: 100 } as const

/** What the console needs to show the shelters. */
export const shelterResource = resourceOf<Shelter, NewShelter>({
  one: 'shelter',
  many: 'shelters',
  idName: 'id',
  title: 'name',
  procedures,
  texts: textsOf(english, { de: async () => ({ texts: german }) }),
  fields: {
    id: { kind: 'id', presence: 'generated' },
    name: { ...text, presence: 'required', samples: ['Northside', 'Southside'] },
    city: { ...text, presence: 'required', samples: ['Bern', 'Basel'] },
    capacity: { kind: 'integer', presence: 'required', samples: [40n, 12n] },
    isOpen: { kind: 'boolean', presence: 'required', isFilter: true, samples: [true, false] },
    note: { ...text, presence: 'optional', isDetail: true, samples: ['Knock.', 'Rings twice.'] },
    registration: { ...text, presence: 'optional', isDetail: true, samples: ['BE-17', 'BS-4'] },
    mascotId: { kind: 'integer', presence: 'optional', isDetail: true, samples: [1n, 2n] },
    createdAt: { kind: 'time', presence: 'generated' },
  },
})

function procedures(petstore: PetstoreClient) {
  // Safe: the service of the test has the router of the fixture.
  const { shelters } = petstore as unknown as TRPCClient<FixtureRouter>
  return shelters
}
