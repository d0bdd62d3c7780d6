import '@mantine/core/styles/Skeleton.layer.css'
import './pet-table.css'
import { Skeleton } from '@mantine/core'
import type { Pet } from '../../client/index.ts'
import { IconButton } from '../components/buttons.tsx'
import { IconX } from '../components/icons.tsx'
import { outerSpacesOf, Value, valueAttributes } from '../components/value.tsx'
import { arrowKeys } from '../keyboard.ts'
import type { Field, Values } from '../resource.ts'
import { messages } from './messages.ts'
import { petResource } from './pet.ts'
import { pageSize } from './queries.ts'
import { hrefOf, openHere } from './view.ts'

interface PetTableProps {
  /** Undefined until the first page is loaded. */
  pets: Pet[] | undefined
  /** Whether another page is being loaded. */
  isBusy?: boolean
  /** The id of the pet in the panel. */
  openPet: bigint | undefined
  /** Pets to mark as new. */
  added: Pet[]
  onOpen: (petId: bigint) => void
  /** Called when the user may be about to open a pet. */
  onOpenIntent: (petId: bigint) => void
}

const { fields } = petResource

export function PetTable({ pets, isBusy = false, openPet, added, ...opening }: PetTableProps) {
  return (
    <table className="pet-table" aria-busy={isBusy} {...arrowKeys}>
      <colgroup>
        {fields.map((field) => (
          <col key={field.name} {...valueAttributes(field)} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {fields.map(({ name, label }) => (
            <th key={name} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {pets
          ? pets.map((pet) => (
              <PetRow
                key={String(pet.id)}
                pet={pet}
                isOpen={pet.id === openPet}
                isNew={added.some(({ id }) => id === pet.id)}
                {...opening}
              />
            ))
          : skeletonRows}
      </tbody>
    </table>
  )
}

interface PetRowProps extends Pick<PetTableProps, 'onOpen' | 'onOpenIntent'> {
  pet: Pet
  isOpen: boolean
  isNew: boolean
}

/** Longer names may be cut off. */
const shortName = 40

function PetRow({ pet, isOpen, isNew, onOpen, onOpenIntent }: PetRowProps) {
  const { id, name } = pet
  const values: Values = pet
  const { start, end } = outerSpacesOf(name)
  const isShown = name.length <= shortName && start === 0 && end === 0
  return (
    <tr data-new={isNew || undefined} onPointerEnter={() => onOpenIntent(id)} onFocus={() => onOpenIntent(id)}>
      {fields.map((field) => {
        const value = <Value field={field} value={values[field.name]} />
        return (
          <td key={field.name} {...valueAttributes(field)} data-label={labelOf(field)}>
            {field.name !== 'name' ? (
              value
            ) : (
              <a
                href={hrefOf({ pet: id })}
                data-pet={id}
                aria-current={isOpen || undefined}
                title={isShown ? undefined : name}
                onClick={(event) => openHere(event, () => onOpen(id))}
              >
                {value}
              </a>
            )}
          </td>
        )
      })}
    </tr>
  )
}

/** What a narrow screen shows before a number, instead of the header. */
function labelOf({ kind, label }: Field): string | undefined {
  if (kind === 'id') return '#'
  return kind === 'integer' ? `${label} ` : undefined
}

/** Placeholders of the same height as the rows, so that the layout does not shift. */
const skeletonRows = Array.from({ length: pageSize }, (_, index) => `row ${index + 1}`).map((row) => (
  <tr key={row}>
    {fields.map((field) => (
      <td key={field.name} {...valueAttributes(field)}>
        <Skeleton className="pet-skeleton" />
      </td>
    ))}
  </tr>
))

interface JustAddedProps extends Pick<PetTableProps, 'openPet' | 'onOpen' | 'onOpenIntent'> {
  pets: Pet[]
  onDismiss: () => void
}

/** The pets that the user has just added, above the list. In the list itself they may be on another page. */
export function JustAdded({ pets, onDismiss, ...props }: JustAddedProps) {
  if (pets.length === 0) return null
  return (
    <section className="just-added" aria-labelledby="just-added">
      <div className="just-added-head">
        <h2 id="just-added">{messages.list.justAdded}</h2>
        <IconButton label={messages.list.dismiss} size="sm" onClick={onDismiss}>
          <IconX />
        </IconButton>
      </div>
      <PetTable pets={pets} added={[]} {...props} />
    </section>
  )
}

/** The row of a pet in the list. */
export function rowOf(petId: bigint | undefined): HTMLElement | null {
  return document.querySelector(`.pet-list [data-pet="${petId}"]`)
}

/** The id of the pet whose row has the focus. */
export function focusedRow(): bigint | undefined {
  const row = document.activeElement?.closest('.pet-list [data-pet]')
  return row ? BigInt(row.getAttribute('data-pet') ?? '') : undefined
}
