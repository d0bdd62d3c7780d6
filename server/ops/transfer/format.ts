import { extname } from 'node:path'

export const formats = ['ndjson', 'csv'] as const
export type Format = (typeof formats)[number]

/** The format that the extension of a file's name shows: CSV for `.csv`, otherwise NDJSON. */
export function formatOf(file: string | undefined): Format {
  return file !== undefined && extname(file).toLowerCase() === '.csv' ? 'csv' : 'ndjson'
}
