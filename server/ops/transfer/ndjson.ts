import { parseJson } from '../../api/int64.ts'
import { expected, isRecord } from '../../api/validation.ts'
import type { Block, Row } from './input.ts'
import type { Item } from './resource.ts'

/** One JSON object per line (https://github.com/ndjson/ndjson-spec). Integers have all their digits. */
export function writeNdjson(items: Item[], columns: string[]): string {
  return items
    .map((item) => {
      const members = columns.flatMap((name) => (item[name] === undefined ? [] : [`"${name}":${toJson(item[name])}`]))
      return `{${members}}\n`
    })
    .join('')
}

function toJson(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** Ignores empty lines. */
export async function* readNdjson(blocks: AsyncIterable<Block>): AsyncGenerator<Row[]> {
  for await (const { line, bytes } of blocks) {
    // Not readline, which also ends a line at U+2028 and U+2029. A name may contain both.
    const lines = bytes.toString().split('\n')
    yield lines.flatMap((text, index) => (/^\r?$/.test(text) ? [] : [toRow(line + index, text)]))
  }
}

function toRow(line: number, text: string): Row {
  try {
    const fields = parseJson(text)
    return isRecord(fields) ? { line, fields } : { line, problem: expected('an object')({ input: fields }) }
  } catch {
    return { line, problem: 'expected a JSON object' }
  }
}
