import { open } from 'node:fs/promises'
import { z } from 'zod'
import { Refusal } from '#store'

export const settings = z.object({
  printerFile: z
    .string()
    .startsWith('/', 'expected an absolute path')
    .default('/dev/null')
    .describe('the file or device that prints notes'),
})
export type Settings = z.infer<typeof settings>

export async function dependencies({ printerFile }: Settings, onClose: (close: () => Promise<void>) => void) {
  const file = await open(printerFile, 'a')
  onClose(() => file.close())
  async function print(text: string): Promise<void> {
    try {
      await file.appendFile(`${text}\n`)
    } catch (cause) {
      throw new Refusal('The printer does not print.', 'unavailable', { cause })
    }
  }
  return { print }
}
export type Dependencies = Awaited<ReturnType<typeof dependencies>>
