import { Badge } from '@mantine/core'
import type { PetStatus } from '../../client/index.ts'
import { statusColors } from './pet-status.ts'

export function PetStatusBadge({ status }: { status: PetStatus }) {
  return (
    <Badge variant="dot" color={statusColors[status]} tt="none">
      {status}
    </Badge>
  )
}
