import { useMediaQuery } from '@mantine/hooks'
import { PanelFrame } from '../../components/panel.tsx'
import { Sheet } from '../../components/sheet.tsx'
import { editTextsOf } from '../../texts/edits.ts'
import { useAccess } from '../access.ts'
import { useResource } from '../page-context.ts'
import { ChangeList } from './change-list.tsx'

/** A sheet with what was changed and removed, by day. */
export function Changes({ onClose }: { onClose: () => void }) {
  const { resource } = useResource()
  return (
    <Sheet title={editTextsOf(resource).changes.title} onClose={onClose} size="md">
      <ChangeList onClose={onClose} />
    </Sheet>
  )
}

/** So many fit a high window. Each one of an item that the list does not show costs a call, for its title. */
const maxLatest = 12

/** The latest changes, in the room of a wide window that is otherwise that of the panel. */
export function LatestChanges() {
  const { resource } = useResource()
  const isWide = useMediaQuery('(min-width: 100em)', false, { getInitialValueInEffect: false })
  const { access } = useAccess()
  if (!isWide || !access) return null
  const texts = editTextsOf(resource).changes
  return (
    <PanelFrame title={texts.latest}>
      {access === 'write' ? <ChangeList max={maxLatest} /> : <p className="changes-none">{texts.notForThisKey}</p>}
    </PanelFrame>
  )
}
