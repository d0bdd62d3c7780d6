/** An idempotency key of 128 random bits in hexadecimal. `randomUUID` is missing on pages that are served by plain HTTP. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
