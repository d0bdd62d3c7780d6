/** The path of the largest file, the script of the API reference. */
export async function scriptPath(get: (path: string) => Promise<{ body: string }>): Promise<string> {
  const { body } = await get('/docs/')
  const [, path = ''] = /"([^"]*scalar-[^"]+)"/.exec(body) ?? []
  return new URL(path, 'http://a/docs/').pathname
}

export function fetchFrom(origin: string): (path: string) => Promise<{ body: string }> {
  return async (path) => ({ body: await (await fetch(origin + path)).text() })
}
