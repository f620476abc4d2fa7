// Searching: the field with its language's help, and what was found.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Hit, Hits } from '../api'
import { ApiError } from '../client'
import { at as moment, count, dur } from '../format'
import { Failed, Loading } from '../parts/states'
import { t } from '../strings'

export const SEARCH_ID = 'tl-search'

export function Search(p: { q: string; states: string[]; find(q: string): void; failed: string }): JSX.Element {
  const [text, setText] = useState(p.q)
  const [help, setHelp] = useState(false)
  useEffect(() => setText(p.q), [p.q])
  const field = useRef<HTMLInputElement>(null)
  const submit = (e: Event): void => {
    e.preventDefault()
    setHelp(false)
    p.find(text.trim())
  }
  return (
    <form class="tl-search" role="search" onSubmit={submit}>
      <input
        ref={field} id={SEARCH_ID} type="search" value={text} placeholder={t('timeline.search.placeholder')} aria-label={t('timeline.search')}
        aria-invalid={p.failed !== ''} spellcheck={false} autocomplete="off" onInput={(e) => setText(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key === 'Escape') {
            e.stopPropagation()
            if (help) setHelp(false)
            else field.current?.blur()
          }
        }}
      />
      <button type="submit">{t('timeline.search.go')}</button>
      <button type="button" class="quiet" aria-expanded={help} aria-controls="tl-search-help" onClick={() => setHelp(!help)} title={t('timeline.search.help')} aria-label={t('timeline.search.help')}>?</button>
      {help && <Help states={p.states} use={(s) => { setText(s); field.current?.focus() }} />}
    </form>
  )
}

function Help(p: { states: string[]; use(example: string): void }): JSX.Element {
  const lines: [string, string][] = [
    ['func:worker', t('timeline.search.help.func')],
    ['state:' + (p.states[1] ?? 'runnable'), t('timeline.search.help.state', { states: p.states.join(', ') })],
    ['reason:"chan receive"', t('timeline.search.help.reason')],
    ['stack:ReadFile', t('timeline.search.help.stack')],
    ['label:request', t('timeline.search.help.label')],
    ['dur>10ms', t('timeline.search.help.dur')],
    ['id:17', t('timeline.search.help.id')],
  ]
  return (
    <div id="tl-search-help" class="tl-help card">
      <p>{t('timeline.search.help.and')}</p>
      <ul>
        {lines.map(([example, what]) => (
          <li key={example}><button type="button" class="quiet mono" onClick={() => p.use(example)}>{example}</button> <span>{what}</span></li>
        ))}
      </ul>
    </div>
  )
}

export interface Found {
  q: string
  hits: Hits | undefined
  error: ApiError | undefined
}

export function Results(p: { found: Found; at: number; go(i: number): void }): JSX.Element {
  const { hits, error } = p.found
  if (error) return <WrongFilter q={p.found.q} error={error} />
  if (!hits) return <Loading />
  const list = hits.hits ?? []
  if (list.length === 0) return <p>{t('timeline.search.none')} {hits.note}</p>
  return (
    <div class="tl-hits">
      <p>
        {list.length < hits.total ? t('timeline.search.some', { here: count(list.length), n: count(hits.total) }) : t('timeline.search.found', { n: count(hits.total) })}
        {hits.note !== '' && <span class="muted"> · {hits.note}</span>}
      </p>
      <ol>
        {list.map((h, i) => <Result key={i} hit={h} now={i === p.at} go={() => p.go(i)} />)}
      </ol>
    </div>
  )
}

function Result(p: { hit: Hit; now: boolean; go(): void }): JSX.Element {
  const ref = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (p.now) ref.current?.scrollIntoView({ block: 'nearest' })
  }, [p.now])
  const { hit } = p
  return (
    <li ref={ref} class={p.now ? 'tl-hit tl-hit-now' : 'tl-hit'}>
      <button type="button" class="quiet" aria-current={p.now ? 'true' : undefined} onClick={p.go}>
        <span class="mono clip" title={hit.label}>{hit.label}</span>
        <span class="clip" title={hit.text}>{hit.text}</span>
        <span class="right">{moment(hit.from_ns, 1000)}</span>
        <span class="right">{dur(hit.to_ns - hit.from_ns)}</span>
      </button>
    </li>
  )
}

// WrongFilter shows what was asked with a mark where it went wrong, when the
// answer tells the place.
function WrongFilter(p: { q: string; error: ApiError }): JSX.Element {
  const at = positionOf(p.error.message, p.q)
  return (
    <>
      {at !== undefined && (
        <p class="mono tl-wrong">
          {p.q.slice(0, at)}<mark>{p.q.slice(at, at + 1) || ' '}</mark>{p.q.slice(at + 1)}
        </p>
      )}
      <Failed error={p.error} />
    </>
  )
}

/** positionOf reads "at 12" or "position 12" of a message: characters from 1. */
export function positionOf(message: string, q: string): number | undefined {
  const n = Number(/\b(?:at|position|column|character) (\d+)\b/.exec(message)?.[1] ?? NaN)
  return Number.isInteger(n) && n >= 1 && n <= q.length + 1 ? n - 1 : undefined
}
