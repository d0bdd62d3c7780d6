import './item-panel.css'
import { IconButton } from '../../components/buttons.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Failure } from '../../components/failure.tsx'
import { rowOf } from '../../components/focus.ts'
import { IconChevronDown, IconChevronUp } from '../../components/icons.tsx'
import { Message } from '../../components/message.tsx'
import { Panel } from '../../components/panel.tsx'
import { Value, valueAttributes } from '../../components/value.tsx'
import { arrowKeys } from '../../keyboard.ts'
import { problemOf } from '../../problem.ts'
import { Command } from '../../requests/command.tsx'
import { commandOf, jsonOf } from '../../requests/curl.ts'
import { procedures } from '../../requests/procedures.ts'
import { type Item, textOf } from '../../resource.ts'
import type { ShownList } from '../list/use-shown-list.ts'
import { useList, useResource } from '../page-context.ts'
import { itemCallOf } from '../queries.ts'
import { hrefOf } from '../view.ts'

/** One item. */
export function ItemPanel({ id, onClose }: { id: bigint; onClose: () => void }) {
  const { resource, texts } = useResource()
  const { item, move } = useList()
  return (
    <Panel
      title={item.data ? textOf(item.data[resource.title]) : texts.item.heading(id)}
      onClose={onClose}
      {...arrowKeys}
      focusAfter={() => rowOf(id)}
      actions={
        <>
          <IconButton label={texts.item.previous} shortcut="previousItem" onClick={() => move(-1)}>
            <IconChevronUp />
          </IconButton>
          <IconButton label={texts.item.next} shortcut="nextItem" onClick={() => move(1)}>
            <IconChevronDown />
          </IconButton>
        </>
      }
    >
      <LoadedItem id={id} item={item} />
    </Panel>
  )
}

function LoadedItem({ id, item }: { id: bigint; item: ShownList['item'] }) {
  const { icon, texts } = useResource()
  const { data, failureReason, failureCount } = item
  if (data) return <Details item={data} />
  if (!failureReason)
    return <div className="skeleton item-details-skeleton" role="status" aria-label={texts.item.loading} />
  if (problemOf(failureReason).kind === 'missing') {
    return <Message icon={icon} heading="h3" title={texts.item.missing(id)} text={texts.item.missingText} />
  }
  return <Failure title={texts.item.notLoaded} error={failureReason} failures={failureCount} />
}

function Details({ item }: { item: Item }) {
  const { resource, texts } = useResource()
  const { id } = item
  const json = jsonOf(item, '  ')
  // The panel has the title above.
  const fields = resource.fields.filter(({ name }) => name !== resource.title && item[name] !== undefined)
  return (
    <>
      <dl className="item-details">
        {fields.map((field) => (
          <div key={field.name}>
            <dt>{field.label}</dt>
            <dd {...valueAttributes(field)}>
              <Value field={field} value={item[field.name]} />
            </dd>
          </div>
        ))}
      </dl>
      <div className="item-actions">
        <CopyButton
          withText
          label={texts.item.copyLink}
          value={new URL(hrefOf(resource, { item: id }), document.baseURI).href}
        />
        <CopyButton withText label={texts.item.copyJson} value={json} />
      </div>
      <Command label={texts.list.curl} command={commandOf(procedures, itemCallOf(resource, id))} />
      <details className="item-json">
        <summary>JSON</summary>
        <pre>{json}</pre>
      </details>
    </>
  )
}
