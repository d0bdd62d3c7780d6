import type { OpenOptions } from '../../database/loaded.ts'
import { type Damage, FilesDamaged, toFailure } from '../file/failure.ts'
import type { OpenFile } from '../file/open-file.ts'
import { type RescueOptions, rescue } from './rescue.ts'

export interface WatchOptions extends RescueOptions, Pick<OpenOptions, 'onDamage'> {
  /** Makes the writer save a lost log and close its connection. */
  closeWriter: () => Promise<void>
}

/** Finds damage of the files of an open database, and saves what would be gone with them. */
export function watchFiles(file: OpenFile, options: WatchOptions) {
  const { closeWriter, onWarning, onDamage } = options
  let damaged: FilesDamaged | undefined
  let saving: Promise<void> | undefined

  /** Files that cannot be examined, as on a failing disk, may be in place. Returns the damage. */
  function check(): FilesDamaged | undefined {
    if (damaged || !file.connection.open) return damaged
    try {
      file.refuseLostFile()
      file.lookAtLog()
    } catch (error) {
      if (error instanceof FilesDamaged) leave(error.damage)
    }
    return damaged
  }

  function leave(damage: Damage): void {
    damaged ??= new FilesDamaged(damage)
    saving ??= save(damage)
  }

  async function save(damage: Damage): Promise<void> {
    orWarn(() => {
      const oldLog = file.setAsideOldLog()
      if (oldLog !== undefined)
        onWarning?.(`An old copy of the write-ahead log was in its place, and is now ${oldLog}.`)
    })
    await closeWriter()
    const remedy =
      damage === 'log truncated'
        ? 'what only the log had is lost: restore a backup if you need it'
        : await rescue(file, options)
    orWarn(() => file.deleteIndex())
    damaged = new FilesDamaged(damage, remedy)
    onDamage?.(damaged.message)
  }

  function orWarn(step: () => void): void {
    try {
      step()
    } catch (error) {
      onWarning?.(toFailure(error).message)
    }
  }

  return {
    /** After damage nothing may be read or written any more. */
    get damage() {
      return damaged
    },
    check,
    leave,
    /** Resolves when what would be gone with the files is saved: at once unless they are damaged. */
    async saved(): Promise<void> {
      check()
      await saving
    },
  }
}
