// Tables that the server sends in pages.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Table } from '../api'
import { get, isStatic, query, useData, type ApiError, type Params } from '../client'

const PAGE = 1000

export interface Pages {
  table: Table | undefined
  error: ApiError | undefined
  loading: boolean
  /** Asks for the next page; undefined when all rows are here. */
  more: (() => void) | undefined
}

/** A table whose rows come as they are wanted. A null path asks nothing. */
export function usePages(path: string | null, params: Params): Pages {
  // A report file has one page, asked without a limit.
  const first = useData<Table>(path, isStatic ? params : { ...params, limit: PAGE })
  const key = path === null ? '' : query(path, params)
  const [rest, setRest] = useState<{ key: string; pages: Table[]; done: boolean }>({ key: '', pages: [], done: false })
  const asked = useRef('')
  const stop = useRef<AbortController | null>(null)
  useEffect(() => () => stop.current?.abort(), [key])
  const pages = rest.key === key ? rest.pages : []
  const here = (first.data?.rows?.length ?? 0) + pages.reduce((n, p) => n + (p.rows?.length ?? 0), 0)
  const done = isStatic || (rest.key === key && rest.done)
  const more = useCallback(() => {
    const want = `${key} ${here}`
    if (path === null || asked.current === want) return
    asked.current = want
    stop.current = new AbortController()
    get<Table>(path, { ...params, limit: PAGE, offset: here }, stop.current.signal).then(
      (page) => setRest((old) => ({ key, pages: [...(old.key === key ? old.pages : []), page], done: (page.rows?.length ?? 0) === 0 })),
      () => {
        asked.current = '' // scrolling on asks again
      },
    )
  }, [key, here])
  const table = first.data && pages.length > 0
    ? { ...first.data, rows: [first.data, ...pages].flatMap((p) => p.rows ?? []), links: [first.data, ...pages].flatMap((p) => p.links ?? []) }
    : first.data
  return { table, error: first.error, loading: first.loading, more: !first.loading && !done && table && here < table.total ? more : undefined }
}
