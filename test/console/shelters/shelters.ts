import { resourceOf } from '../../../engine/console/resource.ts'
import type { FixtureRouter } from '../../fixture/service/router.ts'

const text = { kind: 'text', maxLength: 100 } as const

/** What the console needs to show the shelters. */
export const shelterResource = resourceOf<FixtureRouter, 'shelters'>('shelters', {
  one: 'shelter',
  title: 'name',
  fields: {
    id: { label: 'Id', kind: 'id', presence: 'generated' },
    name: { label: 'Name', ...text, presence: 'required', samples: ['Northside', 'Southside'] },
    city: { label: 'City', ...text, presence: 'required', samples: ['Bern', 'Basel'] },
    capacity: { label: 'Capacity', kind: 'integer', presence: 'required', samples: [40n, 12n] },
    isOpen: {
      label: 'Access',
      kind: 'boolean',
      presence: 'required',
      choices: { true: 'Open', false: 'Closed' },
      isFilter: true,
      samples: [true, false],
    },
    note: { label: 'Note', ...text, presence: 'optional', isDetail: true, samples: ['Knock.', 'Rings twice.'] },
    registration: { label: 'Registration', ...text, presence: 'optional', isDetail: true, samples: ['BE-17', 'BS-4'] },
    mascotId: { label: 'Mascot', kind: 'integer', presence: 'optional', isDetail: true, samples: [1n, 2n] },
    createdAt: { label: 'Added', kind: 'time', presence: 'generated' },
  },
})
