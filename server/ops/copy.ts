import { type CopyRequest, copyStore } from '../../db/copy/copy-store.ts'
import { describeLocation } from '../../db/location.ts'

/** @returns for a person what was copied and compared. */
export async function copy(request: CopyRequest): Promise<string> {
  const tables = await copyStore(request)
  return [
    `Copied ${describeLocation(request.from)} to ${describeLocation(request.to)}. Read back and compared, both hold:`,
    ...tables.map(
      ({ name, rows, sha256 }) => `  ${name}: ${rows} ${rows === 1 ? 'row' : 'rows'}, SHA-256 ${sha256.slice(0, 12)}…`,
    ),
  ].join('\n')
}
