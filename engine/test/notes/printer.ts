import { open } from 'node:fs/promises'
import { z } from 'zod'

export const settings = z.object({
  printerFile: z.string().default('/dev/null').describe('the file or device that prints notes'),
})
export type Settings = z.infer<typeof settings>

export async function dependencies({ printerFile }: Settings, onClose: (close: () => Promise<void>) => void) {
  const file = await open(printerFile, 'a')
  onClose(() => file.close())
  return { print: (text: string) => file.appendFile(`${text}\n`) }
}
export type Dependencies = Awaited<ReturnType<typeof dependencies>>
