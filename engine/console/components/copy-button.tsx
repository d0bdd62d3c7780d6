import { useClipboard } from '@mantine/hooks'
import { Announcement } from './announcement.tsx'
import { Button, IconButton } from './buttons.tsx'
import { IconCheck, IconCopy } from './icons.tsx'

interface CopyButtonProps {
  label: string
  value: string
  /** Shows the label as text. */
  withText?: boolean
}

/** Copies a text. Browsers allow it only on secure pages, so there is no button on others. */
export function CopyButton({ label, value, withText = false }: CopyButtonProps) {
  const { copied, copy } = useClipboard({ timeout: 2_000 })
  const copyValue = () => copy(value)
  if (!isSecureContext) return null
  const icon = copied ? <IconCheck /> : <IconCopy />
  const text = copied ? 'Copied' : label
  return (
    <>
      {withText ? (
        <Button className="copy" variant="default" size="xs" icon={icon} labels={[label, 'Copied']} onClick={copyValue}>
          {text}
        </Button>
      ) : (
        <IconButton label={text} size="xs" onClick={copyValue}>
          {icon}
        </IconButton>
      )}
      <Announcement text={copied && 'Copied'} />
    </>
  )
}
