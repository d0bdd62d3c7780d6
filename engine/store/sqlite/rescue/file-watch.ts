import { type Damage, FilesDamaged } from '../file/damage.ts'
import { toFailure } from '../file/failure.ts'
import type { OpenFile } from '../file/open-file.ts'
import { type RescueOptions, rescue } from './rescue.ts'

export interface WatchOptions extends RescueOptions {
  onWarning: (message: string) => void
  /** Makes the writer save a lost log and close its connection. */
  closeWriter: () => Promise<void>
  /** Called once, when the files are damaged and what could be saved is saved. */
  onDamage: (message: string) => void
}

/** Finds damage of the files of an open database, and saves what would be gone with them. */
export class FileWatch {
  readonly #file: OpenFile
  readonly #options: WatchOptions
  #damage: FilesDamaged | undefined
  #saving: Promise<void> | undefined

  constructor(file: OpenFile, options: WatchOptions) {
    this.#file = file
    this.#options = options
  }

  /** After damage nothing may be read or written any more. */
  get damage(): FilesDamaged | undefined {
    return this.#damage
  }

  /** Files that cannot be examined, as on a failing disk, may be in place. Returns the damage. */
  check(): FilesDamaged | undefined {
    if (this.#damage || !this.#file.connection.open) return this.#damage
    try {
      this.#file.refuseLostFile()
      this.#file.lookAtLog()
    } catch (error) {
      if (error instanceof FilesDamaged) this.leave(error.damage)
    }
    return this.#damage
  }

  leave(damage: Damage): void {
    this.#damage ??= new FilesDamaged(damage)
    this.#saving ??= this.#save(damage)
  }

  async #save(damage: Damage): Promise<void> {
    const { closeWriter, onWarning, onDamage } = this.#options
    try {
      const oldLog = this.#file.setAsideOldLog()
      if (oldLog !== undefined) onWarning(`An old copy of the write-ahead log was in its place, and is now ${oldLog}.`)
    } catch (error) {
      onWarning(toFailure(error).message)
    }
    await closeWriter()
    const remedy =
      damage === 'log truncated'
        ? 'what only the log had is lost: restore a backup if you need it'
        : await rescue(this.#file, this.#options)
    try {
      this.#file.deleteIndex()
    } catch (error) {
      onWarning(toFailure(error).message)
    }
    this.#damage = new FilesDamaged(damage, remedy)
    onDamage(this.#damage.message)
  }

  /** Resolves when what would be gone with the files is saved: at once unless they are damaged. */
  async saved(): Promise<void> {
    this.check()
    await this.#saving
  }
}
