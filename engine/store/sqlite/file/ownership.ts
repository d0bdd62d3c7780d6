import { existsSync, fchmodSync, fchownSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The user and the group that a file belongs to, and its permissions. */
export interface Ownership {
  uid: number
  gid: number
  mode: number
}

/**
 * What a command gives the files that it creates for a database. They are those of the database, so that the service can
 * use the files, also if root runs the command. A database that is missing belongs to the owner of its folder, and only
 * its owner may read it.
 */
export function ownershipOf(database: string): Ownership {
  const file = statSync(database, { throwIfNoEntry: false })
  // Also the owner of a read-only database must be able to write a new file.
  if (file) return { uid: file.uid, gid: file.gid, mode: (file.mode & 0o666) | 0o600 }
  const { uid, gid } = statSync(existingFolder(database))
  return { uid, gid, mode: 0o600 }
}

/** The folder of the file, or the nearest one above that exists. */
export function existingFolder(file: string): string {
  let folder = dirname(file)
  while (!existsSync(folder)) folder = dirname(folder)
  return folder
}

/** A folder may be entered by those who may read its files. */
export function forFolder({ mode, ...owner }: Ownership): Ownership {
  return { ...owner, mode: mode | ((mode & 0o444) >> 2) }
}

/** Gives a new file or folder away, if possible. It takes a descriptor, because a path could be replaced by a link. */
export function giveAway(descriptor: number, { uid, gid, mode }: Ownership): void {
  // Only root may change the user. A user may give a file to each of their groups.
  const isInGroup = canDo(() => fchownSync(descriptor, uid, gid)) || canDo(() => fchownSync(descriptor, -1, gid))
  canDo(() => fchmodSync(descriptor, isInGroup ? mode : mode & ~0o070))
}

function canDo(change: () => void): boolean {
  try {
    change()
    return true
  } catch {
    return false
  }
}
