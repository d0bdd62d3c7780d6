/** A name for one creation: 128 random bits. Unlike `randomUUID`, browsers make these on plain http too. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
