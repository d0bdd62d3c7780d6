/** Sizes in bytes, times in milliseconds. */
export const limits = {
  body: 64 * 1024,
  headers: 16 * 1024,
  url: 8 * 1024,
  headersTime: 5_000,
  requestTime: 10_000,
  /** Time without progress on a connection whose response is not sent completely. Node may notice it only after twice the time. */
  stallTime: 20_000,
  idleTime: 5_000,
  /** Time from a response to the end of the headers of the next request: both times above, and a second that Node adds. */
  silentTime: 11_000,
  /** Pipelined requests that wait for the previous response, over all connections. */
  heldRequests: 10_000,
  /** More than the requests with an API key in the 64 KiB that Node reads and parses at once. */
  heldRequestsPerConnection: 1_000,
  /** Bytes of complete responses that clients have not read, over all connections. */
  unsentBytes: 128 * 1024 * 1024,
}
