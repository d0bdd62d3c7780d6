import { Command } from '../../requests/command.tsx'
import { commandOf } from '../../requests/curl.ts'
import { procedures } from '../../requests/procedures.ts'
import { valuesOf } from '../../resource.ts'
import { editTextsOf } from '../../texts/edits.ts'
import { useResource } from '../page-context.ts'

/** A request that adds the first item. */
export function ExampleCommand() {
  const { resource } = useResource()
  const input = valuesOf(resource, ({ presence, samples }) => (presence === 'required' ? samples?.[0] : undefined))
  const call = { procedure: `${resource.many}.create`, input, idempotencyKey: undefined }
  return <Command label={editTextsOf(resource).item.curl} command={commandOf(procedures, call)} />
}
