import './item-panel.css'
import { IconButton } from '../../components/buttons.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Failure } from '../../components/failure.tsx'
import { IconChevronDown, IconChevronUp } from '../../components/icons.tsx'
import { Message } from '../../components/message.tsx'
import { Panel } from '../../components/panel.tsx'
import { outerSpacesOf, Value, valueAttributes } from '../../components/value.tsx'
import { arrowKeys } from '../../keyboard.ts'
import { problemOf } from '../../problem.ts'
import { jsonOf } from '../../requests/curl.ts'
import { type Item, textOf } from '../../resource.ts'
import { useRefresh } from '../queries.ts'
import { usePage } from '../use-page.ts'
import { hrefOf } from '../view.ts'

/** One item. */
export function ItemPanel({ id, onClose }: { id: bigint; onClose: () => void }) {
  const { resource, texts, item, refs, move } = usePage()
  return (
    <Panel
      ref={refs.panel}
      title={item.data ? textOf(item.data[resource.title]) : texts.item.heading(id)}
      onClose={onClose}
      {...arrowKeys}
      focusAfter={() => refs.rows.current.get(id)}
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
      <LoadedItem id={id} />
    </Panel>
  )
}

function LoadedItem({ id }: { id: bigint }) {
  const { icon, texts, queries, item } = usePage()
  const { data, failureReason, failureCount } = item
  const refresh = useRefresh(queries)
  if (data) return <Details item={data} />
  if (!failureReason)
    return <div className="skeleton item-details-skeleton" role="status" aria-label={texts.item.loading} />
  const problem = problemOf(failureReason)
  if (problem.kind === 'missing') {
    return <Message icon={icon} heading="h3" title={texts.item.missing(id)} text={texts.item.missingText} />
  }
  return <Failure title={texts.item.notLoaded} problem={problem} failures={failureCount} onRetry={refresh} />
}

function Details({ item }: { item: Item }) {
  const { resource, texts } = usePage()
  const { id } = item
  const json = jsonOf(item, '  ')
  // The panel has the title above.
  const fields = resource.fields.filter(({ name }) => name !== resource.title && item[name] !== undefined)
  return (
    <>
      <Spaces title={textOf(item[resource.title])} />
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
      <details className="item-json">
        <summary>JSON</summary>
        <pre>{json}</pre>
      </details>
    </>
  )
}

/** Names the spaces at the ends of the title, which the head of the panel does not show. */
function Spaces({ title }: { title: string }) {
  const { resource, texts } = usePage()
  const { start, end } = outerSpacesOf(title)
  const label = resource.fields.find(({ name }) => name === resource.title)?.label ?? ''
  return (start > 0 || end > 0) && <p className="item-spaces dimmed">{texts.item.spaces(label, start, end)}</p>
}
