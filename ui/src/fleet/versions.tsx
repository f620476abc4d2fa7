// Which deploys changed what a service costs, and where.
import type { JSX } from 'preact'
import { count } from '../format'
import { Command } from '../parts/copy'
import { Failed, Loading } from '../parts/states'
import { t } from '../strings'
import { setParams, usePlace } from '../url'
import type { Versions as Answer } from './api'
import { MOST, useAnswer } from './ask'
import { ChangeCard } from './change'
import { FindingCard } from './finding'
import { Cards, Filter, Missing } from './parts'
import { askAgain, useSpan } from './time'
import { Undecided } from './undecided'

export function Versions(): JSX.Element {
  const q = usePlace().params.get('q') ?? ''
  const { data, error } = useAnswer<Answer>('versions', { limit: MOST })
  if (error) return <Failed error={error} retry={askAgain} />
  if (!data) return <Loading />
  const steps = (data.steps ?? []).filter((s) => s.service.toLowerCase().includes(q.toLowerCase()))
  if (data.changes.length === 0 && !data.steps?.length) return <Nothing />
  const all = data.changes.filter((c) => c.service.toLowerCase().includes(q.toLowerCase()))
  const worse = all.filter((c) => c.verdict === 'worse'), better = all.filter((c) => c.verdict === 'better')
  const decided = [...worse, ...better]
  return (
    <div class="data-screen">
      <Missing of={data.changes.map((c) => c.missing)} />
      <div class="data-head"><Filter hint={t('fleet.filter.services')} q={q} /></div>
      <Cards>
        {decided.length === 0 && data.changes.length > 0 && <p class="fleet-calm"><span class="mark mark-good" aria-hidden="true">✓</span> {t('fleet.versions.nochange')}</p>}
        {worse.length > 0 && <h2>{t('fleet.versions.worse', { n: worse.length })}</h2>}
        {worse.map((c) => <ChangeCard key={c.service + '\n' + c.head} of={c} all={decided} />)}
        {steps.length > 0 && <h2>{t('fleet.versions.steps', { n: steps.length })}</h2>}
        {steps.map((s) => <FindingCard key={s.service + s.first} of={s} currency="" />)}
        {better.length > 0 && <h2>{t('fleet.versions.better', { n: better.length })}</h2>}
        {better.map((c) => <ChangeCard key={c.service + '\n' + c.head} of={c} all={decided} />)}
      </Cards>
      <Undecided changes={all.filter((c) => !decided.includes(c))} />
      {data.omitted > 0 && <p class="data-note">{t('fleet.omitted', { n: count(data.omitted) })}</p>}
    </div>
  )
}

function Nothing(): JSX.Element {
  const { choice } = useSpan()
  return (
    <div class="state fleet-nothing">
      <p class="state-what">{t('fleet.versions.none')}</p>
      {choice !== '7d' && <p><button type="button" onClick={() => setParams({ span: '7d', from: null, until: null })}>{t('fleet.longer')}</button></p>}
      <p>{t('fleet.versions.send')}</p>
      <Command text="gowhy serve --scrape shop@v1.2.3=http://localhost:6060/debug/pprof" />
    </div>
  )
}
