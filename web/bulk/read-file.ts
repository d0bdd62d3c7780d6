import { messages } from '../messages/index.ts'

const { fileTooLarge, fileNotUtf8, fileUnreadable } = messages.bulk

const maxMegabytes = 5

/** The text of a file. Another encoding than UTF-8 would change names without notice. */
export async function readFile(file: File): Promise<{ text: string } | { problem: string }> {
  if (file.size > maxMegabytes * 1_000_000) return { problem: fileTooLarge(maxMegabytes) }
  try {
    const bytes = await file.arrayBuffer()
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    return { problem: error instanceof TypeError ? fileNotUtf8 : fileUnreadable }
  }
}
