// What is open, kept up to date while something is being read: each question names
// the last change that the page knows, and the server answers when there is another.
import { createContext } from 'preact'
import { useCallback, useContext, useLayoutEffect, useState } from 'preact/hooks'
import type { Session } from './api'
import { get, problem, take, type ApiError } from './client'

const PATH = 'api/session'

/** follow tells the session as it is and each time that it changes, until all of it is read. */
export async function follow(told: (s: Session) => void, signal: AbortSignal): Promise<void> {
  for (let s = await take<Session>(PATH, signal); !signal.aborted; s = await get<Session>(PATH, { since: s.change }, signal)) {
    told(s)
    if (s.static || !busy(s)) return
  }
}

function busy(s: Session): boolean {
  return s.loading !== '' || s.runs.some((r) => r.loading)
}

let listener: (() => void) | undefined

/** Has the page ask once more what is open: there is a run that was not there. */
export function renew(): void {
  listener?.()
}

/** Gives what is open to all that stands on the page. */
export const Following = createContext<Session | undefined>(undefined)

/** The session as the page follows it: what was asked once may be of before all was read. */
export function useOpened(): Session | undefined {
  return useContext(Following)
}

/** The session for a component; again asks once more, as for what was opened since. */
export function useSession(): { session: Session | undefined; error: ApiError | undefined; again(): void } {
  const [session, setSession] = useState<Session | undefined>(undefined)
  const [error, setError] = useState<ApiError | undefined>(undefined)
  const [asked, ask] = useState(0)
  const again = useCallback(() => ask((n) => n + 1), [])
  useLayoutEffect(() => {
    listener = again
    return () => {
      listener = undefined
    }
  }, [again])
  useLayoutEffect(() => {
    const stop = new AbortController()
    const told = (s: Session): void => {
      setSession(s)
      setError(undefined)
    }
    follow(told, stop.signal).catch((e: unknown) => {
      if (!stop.signal.aborted) setError(problem(e))
    })
    return () => stop.abort()
  }, [asked])
  return { session, error, again }
}
