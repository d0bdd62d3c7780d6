import { useMediaQuery } from '@mantine/hooks'
import { Activity } from 'react'
import { Button } from '../../components/buttons.tsx'
import { Panel, PanelFrame } from '../../components/panel.tsx'
import { useAccess } from '../access.ts'
import { useList, useResource } from '../page-context.ts'
import { ChangeList } from './change-list.tsx'

/** So many fit a high window. Each one of an item that the list does not show costs a call, for its title. */
const maxLatest = 12

interface ChangesProps {
  /** Whether the panel has an item, from which the user comes back to the same place. */
  isBelow: boolean
  onClose: () => void
}

/** What was changed and removed, by day. A wide window has room for the latest changes where the panel opens. */
export function Changes({ isBelow, onClose }: ChangesProps) {
  const { resource, open } = useResource()
  const { changes } = useList().view
  const isWide = useMediaQuery('(min-width: 100em)', false, { getInitialValueInEffect: false })
  const { access } = useAccess()
  if (!access) return null
  const list =
    access === 'write' ? (
      <ChangeList {...(changes ? { shown: changes } : { max: maxLatest })} />
    ) : (
      <p className="changes-none">
        Your API key cannot show changes.{!changes && ` Click a ${resource.one} to see it here.`}
      </p>
    )
  if (!changes && (!isWide || isBelow)) return null
  if (!changes)
    return (
      <PanelFrame title="Latest changes">
        {list}
        {access === 'write' && (
          <Button variant="default" size="xs" onClick={() => open({ kind: 'changes' })}>
            All changes
          </Button>
        )}
      </PanelFrame>
    )
  return (
    <Activity mode={isBelow ? 'hidden' : 'visible'}>
      <Panel title={`Changes of ${resource.many}`} onClose={onClose}>
        {list}
      </Panel>
    </Activity>
  )
}
