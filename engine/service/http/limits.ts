/** Sizes in bytes, times in milliseconds. */
export const limits = {
  body: 64 * 1024,
  headers: 16 * 1024,
  url: 8 * 1024,
  headersTime: 5_000,
  requestTime: 10_000,
  /** Time without progress while a response is not sent completely. Node may notice it only after twice the time. */
  stallTime: 20_000,
  /** Above the 60 s of most proxies and load balancers. They would send requests on connections that are being closed. */
  idleTime: 75_000,
  /** Pipelined requests that wait for the previous response, over all connections. */
  heldRequests: 1_000,
}
