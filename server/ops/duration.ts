const second = 1_000
const units: Record<string, number> = {
  s: second,
  m: 60 * second,
  h: 3_600 * second,
  d: 24 * 3_600 * second,
  w: 7 * 24 * 3_600 * second,
}

/** Such as `3 h`: whole numbers of the largest unit that fits. */
export function describeDuration(milliseconds: number): string {
  const [unit, length] = Object.entries(units).findLast(([, length]) => milliseconds >= length) ?? ['s', second]
  return `${Math.floor(milliseconds / length)} ${unit}`
}

/** A duration such as 30m, 12h or 90d, in milliseconds; `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,3})([smhdw])$/.exec(text) ?? []
  const length = units[unit]
  return length === undefined ? undefined : Number(count) * length
}
