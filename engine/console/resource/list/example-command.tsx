import { Command } from '../../requests/command.tsx'
import { commandLabel, commandOf } from '../../requests/curl.ts'
import { procedures } from '../../requests/procedures.ts'
import { valuesOf } from '../../resource.ts'
import { useResource } from '../page-context.ts'

/** A request that adds the first item. */
export function ExampleCommand() {
  const { resource } = useResource()
  const input = valuesOf(resource, ({ presence, samples }) => (presence === 'required' ? samples?.[0] : undefined))
  const call = { procedure: `${resource.many}.create`, input, idempotencyKey: undefined }
  return <Command label={commandLabel()} command={commandOf(procedures, call)} />
}
