// What the rules found over the fleet, by what it costs.
import type { JSX } from 'preact'
import { count } from '../format'
import { Empty, Failed, Loading } from '../parts/states'
import { t } from '../strings'
import { setParams, usePlace } from '../url'
import type { Finding } from './api'
import { useFindings } from './ask'
import { FindingCard, Silence, Unjudged } from './finding'
import { Cards, Filter, Missing } from './parts'
import { judged } from './rows'
import { askAgain, momentText } from './time'

const STATES = ['open', 'gone', 'all'] as const

export function Findings(): JSX.Element {
  const { params } = usePlace()
  const q = params.get('q') ?? ''
  const state = STATES.find((s) => s === params.get('state')) ?? 'open'
  const { data, error } = useFindings()
  if (error) return <Failed error={error} retry={askAgain} />
  if (!data) return <Loading />
  if (!judged(data)) return <><Missing of={[data.missing]} /><Unjudged /></>
  const found = data.findings.filter((f) => (state === 'all' || f.state === state) && matches(f, q))
  return (
    <div class="data-screen">
      <Missing of={[data.missing]} />
      <div class="data-head">
        <Filter hint={t('fleet.findings.filter')} q={q} />
        <label class="data-field">
          <span>{t('fleet.findings.state')}</span>
          <select value={state} onChange={(e) => setParams({ state: e.currentTarget.value === 'open' ? null : e.currentTarget.value })}>
            {STATES.map((s) => <option key={s} value={s}>{t(`fleet.findings.state.${s}`)}</option>)}
          </select>
        </label>
        <span class="muted">{t('fleet.findings.judged', { when: momentText(Date.parse(data.judged ?? '')) })}</span>
      </div>
      {found.length === 0
        ? <Empty text={data.findings.length === 0 ? t('fleet.findings.none') : t('fleet.findings.nomatch')} />
        : <><h2 class="sr">{t('fleet.findings.list')}</h2><Cards>{found.map((f) => <FindingCard key={[f.service, f.rule, f.function].join('\n')} of={f} currency={data.currency ?? ''} />)}</Cards></>}
      <Silence of={data} />
      {data.omitted > 0 && <p class="data-note">{t('fleet.omitted', { n: count(data.omitted) })}</p>}
    </div>
  )
}

function matches(f: Finding, q: string): boolean {
  return [f.service, f.rule, f.function ?? '', f.title].some((s) => s.toLowerCase().includes(q.toLowerCase()))
}
