/** Sizes in bytes, times in milliseconds. */
export const limits = {
  body: 64 * 1024,
  headers: 16 * 1024,
  url: 8 * 1024,
  headersTime: 5_000,
  requestTime: 10_000,
  /** Time without progress on a connection whose response is not sent completely. */
  stallTime: 20_000,
  idleTime: 5_000,
  /** Pipelined requests that wait for the previous response, over all connections. */
  heldRequests: 10_000,
  /** Bytes of complete responses that clients have not read, over all connections. */
  unsentBytes: 128 * 1024 * 1024,
}
