/** Whether a request changes nothing (RFC 9110, section 9.2.1). No path serves TRACE, the fourth such method. */
export function isSafeMethod(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}
