// The flame graph of a service, of a version, or of two beside each other.
import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { NOWHERE, SearchField, ViewButtons } from '../flame/bar'
import { readView } from '../flame/place'
import { Body } from '../flame/views'
import { Empty, Failed, Loading } from '../parts/states'
import { t, tn } from '../strings'
import { href, setParams, usePlace } from '../url'
import type { FlameAnswer, Services, Values, Version } from './api'
import { MOST, useAnswer } from './ask'
import { Missing, Saturated } from './parts'
import { askAgain } from './time'
import { columnsOf, kindsOf } from './tree'

export function Flame(): JSX.Element {
  const { data, error } = useAnswer<Services>('services', { limit: MOST })
  if (error) return <Failed error={error} retry={askAgain} />
  if (!data) return <Loading />
  const first = data.services[0]
  if (!first) return <Empty text={t('fleet.services.none')}><a href={href('services')}>{t('core.screen.services')}</a></Empty>
  return <Of services={data.services} first={first} />
}

/** What the address asks for. */
interface Asked {
  service: string
  version: string
  base: string
  kind: string
  label: string
}

// Of is the flame graph of what the address names: without a service, of that which uses most.
function Of(p: { services: Version[]; first: Version }): JSX.Element {
  const { params } = usePlace()
  const v = readView(params)
  const service = params.get('service') ?? p.first.name
  const versions = p.services.filter((s) => s.name === service)
  const kinds = kindsOf(versions.flatMap((s) => Object.keys(s.totals)))
  const asked: Asked = { service, version: params.get('version') ?? '', base: params.get('base') ?? '', kind: v.kind || (kinds[0] ?? 'cpu'), label: v.label }
  const usable = asked.label === '' || /^[^=]+=/.test(asked.label)
  const { data, error, loading } = useAnswer<FlameAnswer>(usable ? 'flame' : null, {
    service, type: asked.kind, version: asked.version || undefined, base_version: asked.version !== '' ? asked.base || undefined : undefined, label: asked.label || undefined,
  })
  const tree = useMemo(() => data && columnsOf(data, asked.kind), [data])
  return (
    <div class="flame" aria-busy={loading}>
      <div class="flame-bar">
        <Choice word={t('fleet.flame.service')} value={service} of={[...new Set(p.services.map((s) => s.name))].sort()} choose={(to) => setParams({ service: to, version: null, base: null, ...NOWHERE })} />
        <Choice word={t('fleet.flame.version')} value={asked.version} none={t('fleet.flame.version.all')} of={named(versions)} choose={(to) => setParams({ version: to || null, base: null, ...NOWHERE })} />
        {asked.version !== '' && <Choice word={t('fleet.flame.base')} value={asked.base} none={t('fleet.flame.base.none')} of={named(versions).filter((name) => name !== asked.version)} choose={(to) => setParams({ base: to || null, ...NOWHERE })} />}
        <Choice word={t('fleet.flame.type')} value={asked.kind} of={kinds} text={(k) => tn('flame.of.' + k, k)} choose={(to) => setParams({ kind: to, ...NOWHERE })} />
        <LabelField value={asked.label} service={service} wrong={!usable} />
        <ViewButtons v={v} />
        <SearchField v={v} />
      </div>
      <Missing of={[data?.missing]} />
      <Saturated of={[data?.head, data?.base].flatMap((side) => (side?.saturated ? [[service, side.version].filter(Boolean).join(' ')] : []))} />
      {!usable ? <p class="flame-wrong" role="status">{t('fleet.flame.label.wrong')}</p>
        : error ? <Failed error={error} retry={askAgain} />
        : !data || !tree ? <Loading what={t('flame.loading')} />
        : data.head.total === 0 && !data.base?.total ? <Empty text={t('fleet.flame.none')} />
        : <Body v={v} data={tree} params={params} />}
    </div>
  )
}

// named are versions that have a name, those that came last first; without one none can be chosen.
function named(versions: Version[]): string[] {
  return [...versions].sort((a, b) => (a.first < b.first ? 1 : -1)).map((s) => s.version).filter((name) => name !== '')
}

interface ChoiceProps {
  word: string
  value: string
  of: string[]
  /** The words of no choice, where that is one. */
  none?: string
  text?(value: string): string
  choose(value: string): void
}

function Choice(p: ChoiceProps): JSX.Element {
  const all = p.value === '' || p.of.includes(p.value) ? p.of : [p.value, ...p.of]
  return (
    <label>
      <span class="flame-word">{p.word}</span>
      <select value={p.value} onChange={(e) => p.choose(e.currentTarget.value)}>
        {p.none !== undefined && <option value="">{p.none}</option>}
        {all.map((value) => <option key={value} value={value}>{p.text?.(value) ?? value}</option>)}
      </select>
    </label>
  )
}

// LabelField has the labels of the service for who types.
function LabelField(p: { value: string; service: string; wrong: boolean }): JSX.Element {
  const [text, setText] = useState(p.value)
  useEffect(() => setText(p.value), [p.value])
  const name = /^([^=]+)=/.exec(text)?.[1]
  const names = useAnswer<Values>('values', { by: 'labels', service: p.service }).data?.values ?? []
  const values = useAnswer<Values>(name !== undefined && names.includes(name) ? 'values' : null, { by: 'label:' + name, service: p.service, limit: 200 }).data?.values
  const offers = name !== undefined && values ? values.map((value) => `${name}=${value}`) : names.map((one) => one + '=')
  return (
    <label class="flame-group">
      <span class="flame-word">{t('fleet.flame.label')}</span>
      <input
        list="label-offers" value={text} spellcheck={false} autocomplete="off" placeholder={t('fleet.flame.label.hint')} aria-invalid={p.wrong}
        onInput={(e) => setText(e.currentTarget.value)} onChange={(e) => setParams({ label: e.currentTarget.value.trim() || null, ...NOWHERE })}
      />
      <datalist id="label-offers">{offers.map((one) => <option key={one} value={one} />)}</datalist>
    </label>
  )
}

