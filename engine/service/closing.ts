/** Collects what must be closed. `close` calls all of it, the last one first, and throws at the end what has failed. */
export function collectClosers() {
  const closers: (() => unknown)[] = []
  return {
    onClose: (close: () => unknown) => void closers.push(close),
    async close(): Promise<void> {
      const errors: unknown[] = []
      for (const each of closers.toReversed()) {
        try {
          await each()
        } catch (error) {
          errors.push(error)
        }
      }
      if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('\n'))
      if (errors.length === 1) throw errors[0]
    },
  }
}

/** Closes after the work. If both fail, the error of the work is thrown, because it may be the cause of the other one. */
export async function closeAfter<T>(close: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  let result: T
  try {
    result = await work()
  } catch (error) {
    await close().catch(() => {})
    throw error
  }
  await close()
  return result
}
