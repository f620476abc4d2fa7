// Questions whose answers may come in parts: the server does not keep a request
// waiting while it reads pieces of the trace again, it says what it knows and that
// more comes.
import { useEffect, useState } from 'preact/hooks'
import { get, problem, query, type ApiError, type Params } from '../client'

const AGAIN_MS = 250

interface Parted {
  pending: boolean
}

/** patient asks until all of the answer is there; each tells the parts before. */
export async function patient<T extends Parted>(path: string, params: Params, signal?: AbortSignal, each?: (part: T) => void): Promise<T> {
  for (;;) {
    const answer = await get<T>(path, params, signal)
    if (!answer.pending) return answer
    each?.(answer)
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    if (signal?.aborted) throw new DOMException('stopped', 'AbortError')
  }
}

/** What is known of a question. */
export interface Asked<T> {
  data: T | undefined
  error: ApiError | undefined
  loading: boolean
}

/** useAsked is patient for a component; the answer before stays until the next has come. */
export function useAsked<T extends Parted>(path: string | null, params: Params): Asked<T> {
  const where = path === null ? null : query(path, params)
  const [state, set] = useState<{ where: string | null; data: T | undefined; error: ApiError | undefined; loading: boolean }>(
    () => ({ where: null, data: undefined, error: undefined, loading: false }),
  )
  useEffect(() => {
    if (path === null) {
      set({ where: null, data: undefined, error: undefined, loading: false })
      return
    }
    const stop = new AbortController()
    set((old) => ({ ...old, loading: true }))
    patient<T>(path, params, stop.signal, (data) => !stop.signal.aborted && set({ where, data, error: undefined, loading: true })).then(
      (data) => !stop.signal.aborted && set({ where, data, error: undefined, loading: false }),
      (e: unknown) => !stop.signal.aborted && set({ where, data: undefined, error: problem(e), loading: false }),
    )
    return () => stop.abort()
  }, [where])
  // What was said of another question is no answer to this one, but it may stay in
  // sight for as long as this one is asked.
  if (where === null) return { data: undefined, error: undefined, loading: false }
  return { data: state.data, error: state.where === where ? state.error : undefined, loading: state.loading || state.where !== where }
}
