import { product, servicePath } from './service.ts'

type Kind = 'localStorage' | 'sessionStorage'

/** The name under which the browser keeps something. Another service on the same origin, under another path, has others. */
export function nameHere(name: string, owner = product().command): string {
  return `${owner}-${name}${servicePath()}`
}

/** What the browser keeps. If it blocks its storage or has no space, the console forgets a value with the page. */
export function storage(kind: Kind, owner?: string) {
  return {
    get: (name: string): string | undefined => attempt(() => window[kind].getItem(nameHere(name, owner))) ?? undefined,
    set: (name: string, value: string): void => attempt(() => window[kind].setItem(nameHere(name, owner), value)),
    remove: (name: string): void => attempt(() => window[kind].removeItem(nameHere(name, owner))),
  }
}

function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
