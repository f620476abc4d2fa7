// The flame graph of a run: which tree, of what, and beside which other run.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { Flame as Answer, FlameKind, Marks, Session } from '../api'
import { ApiError, isStatic, useData } from '../client'
import { NOWHERE, SearchField, ViewButtons } from '../flame/bar'
import { amount } from '../flame/describe'
import { readView, type View } from '../flame/place'
import { Source } from '../flame/source'
import { plain } from '../flame/text'
import { Body } from '../flame/views'
import { at as moment, dur } from '../format'
import { Failed, Loading } from '../parts/states'
import { t, tn } from '../strings'
import { href, param, setParams, usePlace } from '../url'

export function Flame(p: { r: number }): JSX.Element {
  const { params } = usePlace()
  const v = readView(params)
  const { data, error, loading } = useData<Answer>('api/flame', {
    r: p.r, kind: v.kind || undefined, group: v.group || undefined, label: v.label || undefined, from: v.time?.from, to: v.time?.to, base: v.time ? undefined : v.base || undefined,
  })
  const marks = useMarks(p.r, v, data)
  const source = (fn: string) => <Source r={p.r} v={v} kind={data?.kind ?? ''} fn={fn} close={() => setParams({ src: null }, { replace: true })} />
  // What can be chosen stays there when the choice before brought nothing.
  const known = useRef<Answer | undefined>(undefined)
  if (data) known.current = data
  if (!known.current) return error ? <Lost error={error} /> : <Loading what={t('flame.loading')} />
  return (
    <div class="flame" aria-busy={loading}>
      <Bar r={p.r} v={v} data={known.current} />
      {error ? <Lost error={error} /> : data ? <Body v={v} data={data} marks={marks} params={params} source={isStatic ? undefined : source} /> : <Loading what={t('flame.loading')} />}
    </div>
  )
}

function Lost(p: { error: ApiError }): JSX.Element {
  const { params } = usePlace()
  const asked = ['kind', 'group', 'label', 'base', 'from'].some((name) => params.has(name))
  return (
    <>
      <Failed error={p.error} />
      {asked && <p class="flame-lost"><a href={href('flame')}>{t('flame.first')}</a></p>}
    </>
  )
}

function Bar(p: { r: number; v: View; data: Answer }): JSX.Element {
  const { v, data } = p
  return (
    <div class="flame-bar">
      <label>
        <span class="flame-word">{t('flame.kind')}</span>
        <select value={data.kind} onChange={(e) => setParams({ kind: e.currentTarget.value, ...NOWHERE })}>
          {data.kinds.map((k) => <option key={k.kind} value={k.kind}>{kindText(k)}</option>)}
        </select>
      </label>
      <ViewButtons v={v} />
      <SearchField v={v} />
      {!isStatic && <ChoiceField word={t('flame.group')} all={t('flame.group.all')} name="group" value={v.group} names={data.groups} least={2} />}
      {!isStatic && <ChoiceField word={t('flame.label.of')} all={t('flame.label.all')} name="label" value={v.label} names={data.labels} least={1} />}
      {(!isStatic || v.base !== '') && !v.time && <BaseField r={p.r} v={v} />}
      {v.time && <TimeField time={v.time} />}
    </div>
  )
}

function kindText(k: FlameKind): string {
  return tn('flame.of.' + k.kind, k.kind) + '  ·  ' + amount(k.total, k.unit)
}

interface Choice {
  word: string
  all: string
  /** The parameter of the address. */
  name: 'group' | 'label'
  value: string
  names: string[]
  /** From how many there is something to choose. */
  least: number
}

function ChoiceField(p: Choice): JSX.Element | null {
  const names = p.value !== '' && !p.names.includes(p.value) ? [p.value, ...p.names] : p.names
  if (names.length < p.least && p.value === '') return null
  return (
    <label class="flame-group">
      <span class="flame-word">{p.word}</span>
      <select value={p.value} onChange={(e) => setParams({ [p.name]: e.currentTarget.value || null, ...NOWHERE })}>
        <option value="">{p.all}</option>
        {names.map((g) => <option key={g} value={g}>{plain(g).slice(0, 120)}</option>)}
      </select>
    </label>
  )
}

// TimeField says that the picture is of a window, and leads back to it and to the whole.
function TimeField(p: { time: NonNullable<View['time']> }): JSX.Element {
  const { from, to } = p.time
  return (
    <span class="flame-time">
      <span class="flame-word">{t('flame.time')}</span>
      <a href={href(`timeline?from=${from}&to=${to}`)}>{t('flame.time.is', { from: moment(from), wide: dur(to - from) })}</a>
      <button type="button" class="quiet" onClick={() => setParams({ from: null, to: null, ...NOWHERE })}>{t('flame.time.whole')}</button>
    </span>
  )
}

function BaseField(p: { r: number; v: View }): JSX.Element | null {
  const { data } = useData<Session>('api/session')
  const others = (data?.runs ?? []).map((run, i) => ({ run, i })).filter(({ run, i }) => i !== p.r && run.error === '')
  if (others.length === 0) return null
  return (
    <label class="flame-base">
      <span class="flame-word">{t('flame.base')}</span>
      <select value={p.v.base} onChange={(e) => setParams({ base: e.currentTarget.value || null, ...NOWHERE })}>
        <option value="">{t('flame.base.none')}</option>
        {others.map(({ run, i }) => <option key={i} value={String(i)}>{i + 1}. {plain(run.name).slice(0, 80)}</option>)}
      </select>
    </label>
  )
}

// useMarks are the frames that the number which led here counts.
function useMarks(r: number, v: View, data: Answer | undefined): Marks | undefined {
  const fact = param('fact')
  const asked = fact !== null && data && v.base === '' && !v.time
  return useData<Marks>(asked ? 'api/flame/marks' : null, { r, kind: data?.kind, group: v.group || undefined, label: v.label || undefined, fact: fact ?? undefined }).data
}
