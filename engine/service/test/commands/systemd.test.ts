import { expect, onTestFinished, test, vi } from 'vitest'
import { notifySystemd } from '../../serve/systemd.ts'

test('without a shell, a service of systemd goes on and warns', async () => {
  vi.stubEnv('PATH', '/nowhere')
  onTestFinished(() => void vi.unstubAllEnvs())
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  notifySystemd({ NOTIFY_SOCKET: '/nowhere' })
  await expect.poll(() => warn.mock.calls).toEqual([[expect.stringContaining('systemd is not notified')]])
})
