import '@mantine/core/styles/DataList.layer.css'
import '@mantine/core/styles/EmptyState.layer.css'
import '@mantine/core/styles/Skeleton.layer.css'
import './pet-panel.css'
import { DataList, EmptyState, Skeleton } from '@mantine/core'
import type { Pet } from '../../client/index.ts'
import { IconButton } from '../components/buttons.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Failure } from '../components/failure.tsx'
import { IconChevronDown, IconChevronUp, IconCode, IconPaw } from '../components/icons.tsx'
import { Panel } from '../components/panel.tsx'
import { outerSpacesOf, Value, valueAttributes } from '../components/value.tsx'
import { arrowKeys } from '../keyboard.ts'
import { problemOf } from '../problem.ts'
import { indentedJsonOf } from '../requests/quoting.ts'
import type { ApiCall } from '../requests/texts.ts'
import type { Values } from '../resource.ts'
import { petCalls } from './calls.ts'
import { messages } from './messages.ts'
import { petResource } from './pet.ts'
import { rowOf } from './pet-table.tsx'
import { type PetQuery, usePet, useRefresh } from './queries.ts'
import { hrefOf } from './view.ts'

const texts = messages.pet

interface PetPanelProps {
  petId: bigint
  onPrevious: () => void
  onNext: () => void
  onRequest: (calls: ApiCall[]) => void
  onClose: () => void
}

/** One pet. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function PetPanel({ petId, onPrevious, onNext, onRequest, onClose }: PetPanelProps) {
  const query = usePet(petId)
  return (
    <Panel
      title={query.data?.name ?? texts.heading(petId)}
      onClose={onClose}
      {...arrowKeys}
      focusAfter={() => rowOf(petId)}
      actions={
        <>
          <IconButton label={texts.previous} shortcut="previousItem" onClick={onPrevious}>
            <IconChevronUp />
          </IconButton>
          <IconButton label={texts.next} shortcut="nextItem" onClick={onNext}>
            <IconChevronDown />
          </IconButton>
          <IconButton label={messages.request.open} onClick={() => onRequest(petCalls(petId, query))}>
            <IconCode />
          </IconButton>
        </>
      }
    >
      <LoadedPet petId={petId} query={query} />
    </Panel>
  )
}

interface LoadedPetProps {
  petId: bigint
  query: PetQuery
}

function LoadedPet({ petId, query: { data, failureReason, failureCount } }: LoadedPetProps) {
  const refresh = useRefresh()
  if (data) return <Details pet={data} />
  if (!failureReason) return <Skeleton className="pet-details-skeleton" role="status" aria-label={texts.loading} />
  const problem = problemOf(failureReason)
  if (problem.kind === 'missing') {
    return (
      <EmptyState className="message" size="sm" icon={<IconPaw />}>
        <EmptyState.Title order={3}>{texts.missing(petId)}</EmptyState.Title>
        <EmptyState.Description>{texts.missingText}</EmptyState.Description>
      </EmptyState>
    )
  }
  return <Failure title={texts.notLoaded} problem={problem} failures={failureCount} onRetry={refresh} />
}

function Details({ pet }: { pet: Pet }) {
  const { id, name } = pet
  const values: Values = pet
  const json = indentedJsonOf(pet)
  // The name is the title of the panel.
  const fields = petResource.fields.filter((field) => field.name !== 'name' && values[field.name] !== undefined)
  return (
    <>
      <Spaces name={name} />
      <DataList className="pet-details" labelWidth="6rem" gap={0}>
        {fields.map((field) => (
          <DataList.Item key={field.name}>
            <DataList.ItemLabel>{field.label}</DataList.ItemLabel>
            <DataList.ItemValue {...valueAttributes(field)}>
              <Value field={field} value={values[field.name]} />
            </DataList.ItemValue>
          </DataList.Item>
        ))}
      </DataList>
      <div className="pet-actions">
        <CopyButton withText label={texts.copyId} value={String(id)} />
        <CopyButton withText label={texts.copyLink} value={new URL(hrefOf({ pet: id }), document.baseURI).href} />
        <CopyButton withText label={texts.copyJson} value={json} />
      </div>
      <pre className="pet-json">{json}</pre>
    </>
  )
}

/** Names the spaces at the ends of a name, which the title does not show. */
function Spaces({ name }: { name: string }) {
  const { start, end } = outerSpacesOf(name)
  return (start > 0 || end > 0) && <p className="pet-spaces dimmed">{texts.spaces(start, end)}</p>
}
