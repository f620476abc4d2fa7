// A screen whose code is fetched when it is first wanted: who reads the findings
// does not wait for the timeline's.
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiError, get, problem } from '../client'
import { t } from '../strings'
import { Failed, Loading } from './states'

type Part<P> = (p: P) => JSX.Element

/** A screen, or a part of one, that says it is loading until its code is there. */
export type Lazy<P = { r: number }> = Part<P> & {
  /** Begins to fetch the code, if nobody did. */
  load(): void
}

export function lazy<P extends object>(fetch: () => Promise<Part<P>>): Lazy<P> {
  let screen: Part<P> | undefined
  let coming: Promise<void> | undefined
  const load = () =>
    (coming ??= fetch().then((s) => {
      screen = s
    }))
  function Fetched(p: P): JSX.Element {
    const [, arrived] = useState(false)
    const [error, setError] = useState<ApiError | undefined>(undefined)
    useEffect(() => {
      let left = false
      load().then(
        () => left || arrived(true),
        (e: unknown) => {
          console.error(e)
          if (!left) setError(new ApiError(t('core.error.part'), t('core.error.part.hint'), 0))
        },
      )
      return () => {
        left = true
      }
    }, [])
    const Shown = screen
    if (Shown) return <Shown {...p} />
    return error ? <Failed error={error} retry={() => reload(setError)} /> : <Loading />
  }
  return Object.assign(Fetched, { load: () => void load().catch(() => undefined) })
}

// A browser may remember for the life of a page that a module or a style did not
// come, so trying again is a new page: the address has all that this one shows.
// It is asked first whether there is a server to bring it, whatever it answers, as
// otherwise even the words of what is wrong would be lost.
function reload(failed: (e: ApiError) => void): void {
  get('api/session').then(
    () => location.reload(),
    (e: unknown) => (problem(e).status > 0 ? location.reload() : failed(problem(e))),
  )
}
