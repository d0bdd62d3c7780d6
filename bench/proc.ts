import { readdirSync, readFileSync } from 'node:fs'

/** CPU time and memory of processes on Linux: proc_pid_stat(5), proc_pid_status(5). */

interface Process {
  parent: number
  /** CPU time in all threads. */
  cpu: CpuTimes
  /** Microseconds of CPU time of the children that have ended. */
  endedChildrenCpu: number
}

/** CPU time in microseconds. */
export interface CpuTimes {
  user: number
  /** In the kernel. */
  system: number
}

/** The CPU time of a process, in all its threads. */
export function cpuTimes(pid: number | undefined): CpuTimes {
  return stat(pid).cpu
}

/** Microseconds of CPU time of a process, in all its threads. */
export function cpuTime(pid: number | undefined): number {
  const { user, system } = cpuTimes(pid)
  return user + system
}

/** Microseconds of CPU time of a process and its children, including children that have ended. */
export function cpuTimeWithChildren(pid: number): number {
  const { cpu, endedChildrenCpu } = stat(pid)
  const children = processes().filter(({ parent }) => parent === pid)
  return [cpu, ...children.map((child) => child.cpu)].reduce(
    (sum, { user, system }) => sum + user + system,
    endedChildrenCpu,
  )
}

/** Resident memory of a process in bytes. */
export function residentMemory(pid: number | undefined): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1_024
}

export function parentOf(pid: number): number {
  return stat(pid).parent
}

function processes(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return [stat(Number(name))]
    } catch {
      // The process ended after the folder was listed.
      return []
    }
  })
}

/** Reads /proc/PID/stat, which has times in hundredths of a second. */
function stat(pid: number | undefined): Process {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  const field = (number: number) => Number(fields[number - 3])
  return {
    parent: field(4),
    cpu: { user: field(14) * 10_000, system: field(15) * 10_000 },
    endedChildrenCpu: (field(16) + field(17)) * 10_000,
  }
}
