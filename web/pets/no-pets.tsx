import '@mantine/core/styles/EmptyState.layer.css'
import './no-pets.css'
import { Button, EmptyState } from '@mantine/core'
import { CopyButton } from '../components/copy-button.tsx'
import { keepFocus } from '../components/focus.ts'
import { IconFilterOff, IconPaw, IconPlus, IconTablePlus } from '../components/icons.tsx'
import { jsonOf } from '../requests/quoting.ts'
import { valuesOf } from '../resource.ts'
import { serviceUrl } from '../service.ts'
import { messages } from './messages.ts'
import { petResource, statusNames } from './pet.ts'
import type { Place, View } from './view.ts'

interface NoPetsProps {
  view: View
  onTurn: (place: Place) => void
  onAdd: () => void
  onAddMany: () => void
}

const texts = messages.list

/** Explains why the list is empty and offers the next step. */
export function NoPets({ view, onTurn, onAdd, onAddMany }: NoPetsProps) {
  if (view.cursor > 0n) {
    return (
      <EmptyState ref={keepFocus} className="message" icon={<IconPaw />}>
        <EmptyState.Title order={2}>{texts.pastEnd}</EmptyState.Title>
        <EmptyState.Description>{texts.pastEndText}</EmptyState.Description>
        <Action label={texts.toFirst} onClick={() => onTurn({})} />
      </EmptyState>
    )
  }
  if (view.status) {
    return (
      <EmptyState ref={keepFocus} className="message" icon={<IconFilterOff />}>
        <EmptyState.Title order={2}>{texts.emptyFilter(statusNames[view.status])}</EmptyState.Title>
        <Action label={texts.showAll} onClick={() => onTurn({ status: undefined })} />
      </EmptyState>
    )
  }
  return (
    <EmptyState ref={keepFocus} className="message" icon={<IconPaw />}>
      <EmptyState.Title order={2}>{texts.empty}</EmptyState.Title>
      <EmptyState.Description>{texts.emptyText}</EmptyState.Description>
      <EmptyState.Actions>
        <Button leftSection={<IconPlus />} onClick={onAdd}>
          {messages.add.title}
        </Button>
        <Button variant="default" leftSection={<IconTablePlus />} onClick={onAddMany}>
          {messages.bulk.title(petResource.noun)}
        </Button>
      </EmptyState.Actions>
      <Command label={texts.emptyCurl} command={curl()} />
    </EmptyState>
  )
}

function Action({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <EmptyState.Actions>
      <Button variant="default" onClick={onClick}>
        {label}
      </Button>
    </EmptyState.Actions>
  )
}

function Command({ label, command }: { label: string; command: string }) {
  return (
    <div className="command">
      <p>{label}</p>
      <div>
        <code>{command}</code>
        <CopyButton label={`${messages.page.copy}: ${label}`} value={command} />
      </div>
    </div>
  )
}

function curl(): string {
  const sample = valuesOf(petResource, ({ presence, samples }) => (presence === 'required' ? samples?.[0] : undefined))
  return [
    `curl ${serviceUrl()}/v1/pets`,
    `-H "Authorization: Bearer $PETSTORE_API_KEY"`,
    `--json '${jsonOf(sample)}'`,
  ].join(' \\\n  ')
}
