// Questions to the server, all about the time of the address.
import { useData, type ApiError, type Params } from '../client'
import type { FindingsAnswer } from './api'
import { rfc3339, useSpan, type Span } from './time'

export interface Answer<T> {
  data: T | undefined
  error: ApiError | undefined
  loading: boolean
}

/** An answer of the API; a null path asks nothing. */
export function useAnswer<T>(path: string | null, params?: Params): Answer<T> {
  const span = useSpan()
  return useData<T>(path === null ? null : 'api/v1/' + path, { ...timeOf(span), ...params })
}

function timeOf(s: Span): Params {
  return { from: rfc3339(s.from), until: rfc3339(s.until) }
}

/** As many as the server gives at once: what is beyond is said to be. */
export const MOST = 10_000

/** Services of which the levels are asked: each is a question to the store. */
export const MOST_LEVELS = 1000

/** What the rules found. */
export function useFindings(params?: Params): Answer<FindingsAnswer> {
  return useAnswer<FindingsAnswer>('findings', { limit: 1000, ...params })
}
