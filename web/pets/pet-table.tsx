import { Anchor, Skeleton, Table } from '@mantine/core'
import type { MouseEvent } from 'react'
import type { Pet } from '../../client/index.ts'
import { PetStatusBadge } from './pet-status-badge.tsx'
import { pageSize } from './queries.ts'

interface PetTableProps {
  /** Undefined until the first page is loaded. */
  pets: Pet[] | undefined
  /** Whether another page is being loaded. */
  isBusy: boolean
  onOpen: (petId: bigint) => void
}

const columns = ['Id', 'Name', 'Category', 'Status']

export function PetTable({ pets, isBusy, onOpen }: PetTableProps) {
  return (
    <Table className="pet-table" highlightOnHover aria-busy={isBusy}>
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <Table.Th key={column}>{column}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {pets ? pets.map((pet) => <PetRow key={String(pet.id)} pet={pet} onOpen={onOpen} />) : <SkeletonRows />}
      </Table.Tbody>
    </Table>
  )
}

interface PetRowProps {
  pet: Pet
  onOpen: (petId: bigint) => void
}

function PetRow({ pet: { id, name, categoryId, status }, onOpen }: PetRowProps) {
  return (
    <Table.Tr>
      <Table.Td>{String(id)}</Table.Td>
      <Table.Td>
        <Anchor href={`/?pet=${id}`} onClick={(event) => openHere(event, () => onOpen(id))}>
          <bdi>{name}</bdi>
        </Anchor>
      </Table.Td>
      <Table.Td>{String(categoryId)}</Table.Td>
      <Table.Td>
        <PetStatusBadge status={status} />
      </Table.Td>
    </Table.Tr>
  )
}

/** Opens the pet in a dialog. A click with a modifier key follows the link, for example into another tab. */
function openHere(event: MouseEvent, open: () => void): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  open()
}

const skeletonRows = Array.from({ length: pageSize }, (_, index) => `row ${index}`)

/** Placeholders of the same height as the rows, so that the layout does not shift. */
function SkeletonRows() {
  return skeletonRows.map((row) => (
    <Table.Tr key={row}>
      {columns.map((column) => (
        <Table.Td key={column}>
          <Skeleton className="skeleton" />
        </Table.Td>
      ))}
    </Table.Tr>
  ))
}
