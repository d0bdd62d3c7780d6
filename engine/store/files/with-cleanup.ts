const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs the work, then the cleanup, also if one of the signals ends the process. */
export async function withCleanup<T>(clean: () => void, work: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals) => {
    clean()
    // This listener was removed before the call, so the signal now ends the process.
    process.kill(process.pid, signal)
  }
  for (const signal of signals) process.once(signal, end)
  try {
    return await work()
  } finally {
    clean()
    for (const signal of signals) process.off(signal, end)
  }
}
