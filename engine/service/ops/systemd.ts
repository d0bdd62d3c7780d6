import { spawn } from 'node:child_process'

/** Milliseconds between two checks until the service is ready. */
const readyInterval = 1_000

/**
 * Tells systemd when the service is ready, that it works, and when it begins to stop: sd_notify(3). Does nothing unless a
 * unit of `Type=notify` runs the service.
 *
 * @param env NOTIFY_SOCKET, and the WATCHDOG_USEC of `WatchdogSec=`
 * @param checkReadiness rejects while the service is not ready
 * @returns a function to call when the service begins to stop
 */
export function notifySystemd(
  { NOTIFY_SOCKET, WATCHDOG_USEC }: Record<string, string | undefined>,
  checkReadiness: () => Promise<void>,
): () => void {
  if (!NOTIFY_SOCKET) return () => {}
  // Node cannot send datagrams to a socket in the file system. A shell starts systemd's program for each message, because
  // to start a process blocks the event loop and needs file descriptors.
  const relay = 'while read -r state; do systemd-notify "$state"; done'
  const shell = spawn('sh', ['-c', relay], { stdio: ['pipe', 'ignore', 'inherit'] })
  const { stdin } = shell
  shell.on('error', ({ message }) =>
    process.emitWarning(`systemd is not notified, because no shell starts: ${message}`),
  )
  // Without its shell, the service is restarted by the watchdog.
  stdin.on('error', () => {})
  void reportReady()
  // Some of the messages may be late.
  const watchdog = WATCHDOG_USEC && setInterval(() => report('WATCHDOG=1'), Number(WATCHDOG_USEC) / 1_000 / 4)

  function report(state: string): void {
    if (!stdin.writableEnded) stdin.write(`${state}\n`)
  }

  async function reportReady(): Promise<void> {
    try {
      await checkReadiness()
      report('READY=1')
    } catch {
      if (!stdin.writableEnded) setTimeout(reportReady, readyInterval).unref()
    }
  }

  return () => {
    clearInterval(watchdog || undefined)
    report('STOPPING=1')
    stdin.end()
  }
}
