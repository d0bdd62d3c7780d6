import './notice.css'
import type { ReactNode } from 'react'
import type { Problem } from '../problem.ts'
import { RequestId } from '../requests/failure.tsx'

interface NoticeProps {
  title: string
  /** Why something failed. Without it, the notice is a warning. */
  problem?: Problem
  /** The text. */
  children: ReactNode
}

/** A message in a form. Screen readers announce its title and its text at once. */
export function Notice({ title, problem, children }: NoticeProps) {
  return (
    <div className="notice" data-color={problem ? 'danger' : 'warning'}>
      <div role="alert">
        <p className="notice-title">{title}</p>
        <p>{children}</p>
      </div>
      {problem && <RequestId id={problem.requestId} />}
    </div>
  )
}
