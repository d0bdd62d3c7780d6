import '@mantine/core/styles/Tabs.layer.css'
import './request-drawer.css'
import { NativeSelect, Tabs } from '@mantine/core'
import { useState } from 'react'
import { Button } from '../components/buttons.tsx'
import { Sheet } from '../components/sheet.tsx'
import { servicePath, serviceUrl } from '../service.ts'
import { messages } from '../texts/messages.ts'
import { CodeBlock } from './code-block.tsx'
import { indentedJsonOf } from './quoting.ts'
import {
  type ApiCall,
  curlText,
  generatedClientSetup,
  generatedClientText,
  keyVariable,
  restRequestOf,
  typedClientText,
} from './texts.ts'

const tabs = ['curl', 'typed', 'generated', 'response'] as const

interface RequestDrawerProps {
  onClose: () => void
  /** At least one. With several, the user chooses. */
  calls: ApiCall[]
  apiKey: string
}

/** Shows how to make a call outside of the console, and its response. */
export function RequestDrawer({ onClose, calls, apiKey }: RequestDrawerProps) {
  const texts = messages.request
  const [index, setIndex] = useState(0)
  const [isKeyShown, setKeyShown] = useState(false)
  const call = calls[index]
  if (!call) return null
  return (
    <Sheet title={texts.title} onClose={onClose} size="lg">
      <div className="request">
        {calls.length > 1 && (
          <NativeSelect
            label={texts.call}
            data={calls.map(({ title }, each) => ({ value: String(each), label: title }))}
            value={String(index)}
            onChange={(event) => setIndex(Number(event.currentTarget.value))}
          />
        )}
        <RequestLine call={call} />
        <KeyLine apiKey={apiKey} isShown={isKeyShown} onChange={setKeyShown} />
        <Texts call={call} apiKey={isKeyShown ? apiKey : undefined} />
      </div>
    </Sheet>
  )
}

function RequestLine({ call }: { call: ApiCall }) {
  const { method, path } = restRequestOf(call)
  return (
    <p className="request-line">
      <strong>{method}</strong> {servicePath() + path}
    </p>
  )
}

interface KeyLineProps {
  apiKey: string
  isShown: boolean
  onChange: (isShown: boolean) => void
}

function KeyLine({ apiKey, isShown, onChange }: KeyLineProps) {
  const texts = messages.request
  const { text, label } = isShown ? texts.hideKey : texts.showKey
  return (
    <div className="request-key">
      <p>
        {texts.apiKey} <code>{isShown ? apiKey : `${apiKey.slice(0, 10)}…`}</code>
        <Button variant="default" size="compact-xs" aria-label={label} onClick={() => onChange(!isShown)}>
          {text}
        </Button>
      </p>
      <p className="request-note">{texts.keyNote(isShown, keyVariable)}</p>
    </div>
  )
}

function Texts({ call, apiKey }: { call: ApiCall; apiKey: string | undefined }) {
  const texts = messages.request
  const service = { url: serviceUrl(), apiKey }
  const code = { ...texts.code, title: `${call.resource.many}.ts` }
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List>
        {tabs.map((tab, index) => (
          <Tabs.Tab key={tab} value={tab} {...(index === 0 && { 'data-autofocus': true })}>
            {texts.tabs[tab]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="curl">
        <p className="request-note">{texts.curlNote}</p>
        <CodeBlock {...texts.command} text={curlText(call, service)} />
      </Tabs.Panel>
      <Tabs.Panel value="typed">
        <p className="request-note">{texts.typedNote}</p>
        <CodeBlock {...code} text={typedClientText(call, service)} />
      </Tabs.Panel>
      <Tabs.Panel value="generated">
        {call.operation === 'search' ? (
          <p className="request-note">{texts.onlyRpc}</p>
        ) : (
          <>
            <p className="request-note">{texts.generatedNote}</p>
            <CodeBlock {...texts.setup} text={generatedClientSetup(service)} />
            <CodeBlock {...code} text={generatedClientText(call, service)} />
          </>
        )}
      </Tabs.Panel>
      <Tabs.Panel value="response">
        {call.response === undefined ? (
          <p className="request-note">{texts.noResponse}</p>
        ) : (
          <CodeBlock {...texts.json} text={indentedJsonOf(call.response)} />
        )}
      </Tabs.Panel>
    </Tabs>
  )
}
