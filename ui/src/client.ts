// Where answers come from: the server that sent this page, or, in a report file,
// the data inside it. Nothing else is ever asked.
import { useLayoutEffect, useState } from 'preact/hooks'
import { t } from './strings'

export type Params = Record<string, string | number | undefined>

/** An answer that did not come, in words for the reader and with what to do. */
export class ApiError extends Error {
  hint: string
  /** Of HTTP; 0 when the server did not answer at all. */
  status: number

  constructor(message: string, hint: string, status: number) {
    super(message)
    this.name = 'ApiError'
    this.hint = hint
    this.status = status
  }
}

// What only one of the two pages does is not built into the other.
const inside = import.meta.env.PROD && import.meta.env.MODE !== 'report' ? undefined : readInside()

/** Inside a report file: what needs a server is not offered. */
export const isStatic: boolean = import.meta.env.MODE === 'report' || inside !== undefined

/** An answer in JSON. */
export async function get<T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> {
  const where = query(path, params)
  if (inside) return look(where) as T
  return JSON.parse(plain(await (await ask(where, signal ? { signal } : {})).text())) as T
}

/** Has the server do something, and gives its answer. */
export async function post<T>(path: string, params?: Params): Promise<T> {
  return JSON.parse(plain(await (await ask(query(path, params), { method: 'POST' })).text())) as T
}

/** An answer in bytes. */
export async function bytes(path: string, params?: Params, signal?: AbortSignal): Promise<ArrayBuffer> {
  const where = query(path, params)
  if (inside) return decode(look(where))
  return (await ask(where, signal ? { signal } : {})).arrayBuffer()
}

/** The address of a download. */
export function downloadURL(path: string, params?: Params): string {
  return query(path, params)
}

/** The questions about a path that a report file has answers to. */
export function answered(path: string): URLSearchParams[] {
  return Object.keys(inside ?? {})
    .filter((where) => before(where) === path)
    .map((where) => new URLSearchParams(where.slice(path.length)))
}

/**
 * An answer, for a component. A null path asks nothing. When only parameters
 * change, the old answer stays until the new one is there: a table that is being
 * filtered does not flash.
 */
export function useData<T>(path: string | null, params?: Params): { data: T | undefined; error: ApiError | undefined; loading: boolean } {
  const where = path === null ? null : query(path, params)
  const [state, set] = useState<{ where: string | null; data: T | undefined; error: ApiError | undefined }>(
    () => ({ where: null, data: undefined, error: undefined }),
  )
  // Not after the next frame, as other effects: what it shows has to come first.
  useLayoutEffect(() => {
    if (where === null) return
    const known = answers.get(where)
    if (known !== undefined) {
      set({ where, data: known as T, error: undefined })
      return
    }
    const stop = new AbortController()
    take<T>(where, stop.signal).then(
      (data) => {
        if (stop.signal.aborted) return
        remember(where, data)
        set({ where, data, error: undefined })
      },
      (e: unknown) => {
        if (!stop.signal.aborted) set({ where, data: undefined, error: problem(e) })
      },
    )
    return () => stop.abort()
  }, [where])
  const samePath = where !== null && state.where !== null && before(where) === before(state.where)
  const known = where === null ? undefined : (answers.get(where) as T | undefined)
  if (where === null) return { data: undefined, error: undefined, loading: false }
  if (state.where === where) return { data: state.data, error: state.error, loading: false }
  return { data: known ?? (samePath ? state.data : undefined), error: undefined, loading: known === undefined }
}

// Answers that were asked for ahead of whom they are for, until he takes them.
const coming = new Map<string, Promise<unknown>>()
// What is being asked for, with what ends that, so that nothing is asked for ahead twice.
const asking = new Map<string, () => void>()

/**
 * Asks for what will be wanted as soon as there is somebody to show it: the way
 * there and back is over by then, or the server waits already for the run. It
 * returns what gives that up; who wants the answer then asks anew.
 */
export function ahead(path: string, params?: Params): () => void {
  const where = query(path, params)
  const known = asking.get(where)
  if (known) return known
  if (inside || answers.has(where)) return () => {}
  const stop = new AbortController()
  const answer = asked<unknown>(where, stop.signal, () => stop.abort())
  coming.set(where, answer)
  const gone = () => coming.get(where) === answer && coming.delete(where)
  answer.then((data) => {
    remember(where, data)
    if (answers.has(where)) gone() // it is found there
  }, gone)
  return () => stop.abort()
}

/** An answer that was asked for ahead, or else is now. */
export function take<T>(where: string, signal?: AbortSignal): Promise<T> {
  const early = coming.get(where) as Promise<T> | undefined
  coming.delete(where)
  return early ? early.catch(() => asked<T>(where, signal)) : asked<T>(where, signal)
}

function asked<T>(where: string, signal?: AbortSignal, stop = () => {}): Promise<T> {
  asking.set(where, stop)
  return get<T>(where, undefined, signal).finally(() => asking.get(where) === stop && asking.delete(where))
}

/** Any failure as one that can be shown. */
export function problem(e: unknown): ApiError {
  if (e instanceof ApiError) return e
  return new ApiError(e instanceof Error ? e.message : String(e), '', 0)
}

/**
 * A path with its parameters as Go's url.Values.Encode writes them: sorted, and
 * escaped alike, because a report file is looked up by this text. What is undefined
 * is left out; what is empty is a value, like the name that some groups have not.
 */
export function query(path: string, params?: Params): string {
  const pairs = Object.entries(params ?? {}).filter(([, v]) => v !== undefined)
  if (pairs.length === 0) return path
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return path + '?' + pairs.map(([k, v]) => escape(k) + '=' + escape(String(v))).join('&')
}

function escape(s: string): string {
  // Half a character, cut by someone, must not throw: it becomes U+FFFD.
  const whole = s.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd')
  return encodeURIComponent(whole)
    .replace(/[!*'()]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase())
    .replace(/%20/g, '+')
}

/**
 * JSON whose strings have no signs that cannot be seen, or that turn the direction
 * of writing: they become what Go would quote them as, as in the text report. Lines
 * and tabs stay. A name that has them cannot be asked for any more; what leads to
 * it are the links that the server made.
 */
export function plain(json: string): string {
  if (!/[\p{Cf}\u007f-\u009f\u2028\u2029]|\\(u00[01]|u202|[bf])/u.test(json)) return json
  const quoted = json.replace(/\\(?:u00([01][0-9a-f])|u(202[89])|([bf])|[^])/g, (whole, control?: string, line?: string, letter?: string) =>
    control ? '\\\\x' + control : line ? '\\\\u' + line : letter ? '\\\\' + letter : whole)
  return quoted.replace(/[\p{Cf}\u007f-\u009f\u2028\u2029]/gu, (c) => {
    const code = (c.codePointAt(0) ?? 0).toString(16)
    return '\\\\' + (code.length > 4 ? 'U' + code.padStart(8, '0') : 'u' + code.padStart(4, '0'))
  })
}

function before(where: string): string {
  const cut = where.indexOf('?')
  return cut < 0 ? where : where.slice(0, cut)
}

// Answers about a run never change: going back to a screen shows it at once. A
// few are kept, for a flame graph may be ten megabytes.
const KEPT = 12
const answers = new Map<string, unknown>()

function remember(where: string, data: unknown): void {
  if (before(where) === 'api/session') return
  answers.delete(where)
  answers.set(where, data)
  const oldest = answers.keys().next()
  if (answers.size > KEPT && !oldest.done) answers.delete(oldest.value)
}

async function ask(where: string, init: RequestInit): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(where, init)
  } catch (e) {
    if (init.signal?.aborted) throw e
    throw new ApiError(t('core.error.gone'), t('core.error.gone.hint'), 0)
  }
  if (answer.ok) return answer
  let what = t('core.error.status', { status: answer.status })
  let hint = ''
  try {
    const told = (await answer.json()) as { error?: unknown; hint?: unknown }
    if (typeof told.error === 'string' && told.error !== '') what = told.error
    if (typeof told.hint === 'string') hint = told.hint
  } catch {
    // No words came with it: the status is all there is to say.
  }
  throw new ApiError(what, hint, answer.status)
}

function readInside(): Record<string, unknown> | undefined {
  if (typeof document === 'undefined') return undefined
  const element = document.getElementById('data')
  if (!element) return undefined
  return JSON.parse(plain(element.textContent ?? '{}')) as Record<string, unknown>
}

// look finds an answer in the report file. Those of a server without words for it
// are kept there as {error, hint, status}.
function look(where: string): unknown {
  const found = inside !== undefined && Object.hasOwn(inside, where) ? inside[where] : undefined
  if (found === undefined) throw new ApiError(t('core.error.static'), t('core.error.static.hint'), 404)
  const told = found as { error?: unknown; hint?: unknown; status?: unknown }
  if (found !== null && typeof found === 'object' && typeof told.error === 'string' && typeof told.status === 'number') {
    throw new ApiError(told.error, typeof told.hint === 'string' ? told.hint : '', told.status)
  }
  return found
}

// decode turns base64, which is how a report file holds bytes, into them.
function decode(v: unknown): ArrayBuffer {
  const text = atob(typeof v === 'string' ? v : '')
  const out = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i)
  return out.buffer
}
