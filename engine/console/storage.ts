/** Undefined in a browser that blocks it: the console then forgets the value with the page. */
export function storage(name: 'localStorage' | 'sessionStorage'): Storage | undefined {
  try {
    return window[name]
  } catch {
    return undefined
  }
}
