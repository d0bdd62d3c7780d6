import { Anchor, Skeleton, Table } from '@mantine/core'
import type { MouseEvent } from 'react'
import type { Pet } from '../client/index.ts'
import { PetStatusBadge } from './pet-status-badge.tsx'
import { pageSize } from './queries.ts'

interface PetTableProps {
  /** Undefined until they are loaded. */
  pets: Pet[] | undefined
  /** Whether others are about to take their place. */
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

/** With a key held down, a link goes where it says: into another tab. */
function openHere(event: MouseEvent, open: () => void): void {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  open()
}

const skeletonRows = Array.from({ length: pageSize }, (_, index) => `row ${index}`)

/** As high as the rows that are to come. */
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
