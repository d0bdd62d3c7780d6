import { Badge } from '@mantine/core'
import type { PetStatus } from '../client/index.ts'

const colors: Record<PetStatus, string> = { available: 'green', pending: 'yellow', sold: 'blue' }

export function PetStatusBadge({ status }: { status: PetStatus }) {
  return (
    <Badge variant="dot" color={colors[status]} tt="none">
      {status}
    </Badge>
  )
}
