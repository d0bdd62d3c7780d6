import type { Caller } from '../../store/collection/mutation.ts'

/** A caller that remembers whether the result of a mutation was that of an earlier one. */
export function newCaller(key: string, owner = 1n) {
  return {
    owner,
    key,
    isReplay: false,
    onReplay() {
      this.isReplay = true
    },
  } satisfies Caller & { isReplay: boolean }
}
