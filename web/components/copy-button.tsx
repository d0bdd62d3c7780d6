import { Button, CopyButton as Copy } from '@mantine/core'
import { messages } from '../messages/index.ts'
import { IconButton } from './buttons.tsx'
import { IconCheck, IconCopy } from './icons.tsx'

interface CopyButtonProps {
  label: string
  value: string
  /** Shows the label as text. */
  withText?: boolean
}

/** Copies a text. Browsers allow it only on secure pages, so there is no button on others. */
export function CopyButton({ label, value, withText = false }: CopyButtonProps) {
  if (!isSecureContext) return null
  return (
    <Copy value={value} timeout={2_000}>
      {({ copied, copy }) => {
        const icon = copied ? <IconCheck /> : <IconCopy />
        const text = copied ? messages.page.copied : label
        return withText ? (
          <Button variant="default" size="xs" leftSection={icon} onClick={copy}>
            {text}
          </Button>
        ) : (
          <IconButton label={text} size="sm" onClick={copy}>
            {icon}
          </IconButton>
        )
      }}
    </Copy>
  )
}
