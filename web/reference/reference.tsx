import './reference.css'
import { useDocumentTitle } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../components/buttons.tsx'
import { hint } from '../components/hint.ts'
import { IconKey } from '../components/icons.tsx'
import { Header } from '../header/header.tsx'
import type { Resource } from '../resource.ts'
import { findKey } from '../session.ts'
import { messages } from '../texts/messages.ts'
import { loadScalar } from './scalar.ts'
import { useScalarColors } from './use-scalar-colors.ts'

/** The API reference of Scalar below the header of the console. */
// biome-ignore lint/style/noDefaultExport: React.lazy needs a default export.
export default function Reference({ resource }: { resource: Resource }) {
  const { page, reference: texts, notLoaded } = messages
  const place = useRef<HTMLDivElement>(null)
  /** Null if no tab is signed in. */
  const [found, setFound] = useState<string | null>()
  const [authorization, setAuthorization] = useState<{ token: string }>()
  const [hasFailed, setHasFailed] = useState(false)
  useDocumentTitle(page.title(page.reference))
  useScalarColors()
  // If its configuration were only updated, a token that the user has entered would take precedence over the key.
  useEffect(() => {
    const element = place.current
    let remove: (() => void) | undefined = () => {}
    loadScalar().then(
      (show) => {
        if (remove && element) remove = show(element, authorization?.token)
      },
      () => setHasFailed(true),
    )
    return () => {
      remove?.()
      remove = undefined
    }
  }, [authorization])

  async function takeKey() {
    const token = await findKey()
    setFound(token)
    if (token !== null) setAuthorization({ token })
  }

  return (
    <>
      <Header list={page.list(resource)} isReference>
        <p className="key-state" role="status">
          {found === null && texts.noKey}
          {/* The part of a key that identifies it, as in `petstore keys list`. */}
          {found && texts.usesKey(found.slice(0, 10))}
        </p>
        <Button
          className="use-key"
          variant="default"
          icon={<IconKey />}
          {...hint(texts.useKey)}
          onClick={() => void takeKey()}
        >
          {texts.useKey}
        </Button>
      </Header>
      {hasFailed && (
        <p className="message" role="alert">
          {notLoaded.text}
        </p>
      )}
      {/* Scalar and the document are English. */}
      <div ref={place} lang="en" />
    </>
  )
}
