import { spawn } from 'node:child_process'
import { Socket } from 'node:net'

/** Milliseconds between two checks until the service is ready. */
const readyInterval = 1_000
/** Milliseconds for which a stop is extended, and the shortest time between two extensions. */
const extension = 60_000
const extensionInterval = 5_000

/**
 * Tells systemd when the service is ready, that it works, and when it stops: sd_notify(3). Does nothing unless a unit of
 * `Type=notify` runs the service, which sets NOTIFY_SOCKET, and with `WatchdogSec=` WATCHDOG_USEC.
 */
export function notifySystemd({ NOTIFY_SOCKET, WATCHDOG_USEC }: Record<string, string | undefined>) {
  if (!NOTIFY_SOCKET) return { reportReady() {}, reportStopping() {}, extendStop() {} }
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
  // It ends with this process.
  shell.unref()
  if (stdin instanceof Socket) stdin.unref()
  let watchdog: NodeJS.Timeout | undefined
  let [isStopping, extendedAt] = [false, Number.NEGATIVE_INFINITY]

  const report = (state: string) => void stdin.write(`${state}\n`)

  /** Waits until the service is ready, reports that, and from then on that it works. */
  async function reportReady(checkReadiness: () => Promise<void>): Promise<void> {
    // Some of the messages may be late.
    if (WATCHDOG_USEC) watchdog ??= setInterval(() => report('WATCHDOG=1'), Number(WATCHDOG_USEC) / 1_000 / 4)
    try {
      await checkReadiness()
      if (!isStopping) report('READY=1')
    } catch {
      if (!isStopping) setTimeout(reportReady, readyInterval, checkReadiness).unref()
    }
  }

  return {
    reportReady,
    reportStopping() {
      isStopping = true
      clearInterval(watchdog)
      report('STOPPING=1')
    },
    /** Call it while the process must not be killed although it has been told to stop. */
    extendStop() {
      if (performance.now() - extendedAt < extensionInterval) return
      extendedAt = performance.now()
      report(`EXTEND_TIMEOUT_USEC=${extension * 1_000}`)
    },
  }
}
