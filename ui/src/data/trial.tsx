// What a trial says of a change: the verdict, each metric with its interval, the
// rounds that it rests on, and how quiet the machine was meanwhile.
import type { JSX } from 'preact'
import { dur, num, share } from '../format'
import { Command } from '../parts/copy'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { setParams, usePlace } from '../url'
import { measuredColumns, toneOf } from './columns'
import { changeText, intervalText } from './interval'
import { Panel, Warnings } from './panel'
import { metricText, type Arm, type Claim, type Effect, type Round, type Trial } from './results'
import { Rounds } from './rounds'

const TONES = { confirmed: 'good', rejected: 'bad', undecided: 'unsure' } as const
const SIGNS = { confirmed: '✓', rejected: '✗', undecided: '?' } as const

export function TrialView(p: { of: Trial }): JSX.Element {
  const trial = p.of
  const { params } = usePlace()
  const effects = trial.effects ?? []
  const metric = effects.find((e) => e.metric === params.get('metric'))?.metric ?? trial.primary
  const primary = effects.find((e) => e.metric === trial.primary)
  return (
    <>
      <Panel>
        <p class={`cmp-summary data-${TONES[trial.conclusion] ?? 'unsure'}`}>
          <span class="mark" aria-hidden="true">{SIGNS[trial.conclusion] ?? '?'}</span> {tn('data.trial.' + trial.conclusion, trial.conclusion)}: {trial.why}
        </p>
        {primary && <p>{t('data.trial.primary', { metric: primary.metric, change: intervalText(primary), pairs: trial.pairs })}</p>}
        <Expected trial={trial} measured={primary} />
        <About trial={trial} />
        <Warnings list={trial.warnings} />
      </Panel>
      <EffectsTable trial={trial} />
      <Panel title={t('data.trial.rounds')}>
        <label class="data-field">
          <span>{t('data.cmp.metric')}</span>
          <select value={metric} onChange={(e) => setParams({ metric: e.currentTarget.value }, { replace: true })}>
            {effects.map((e) => <option key={e.metric} value={e.metric}>{e.metric}</option>)}
          </select>
        </label>
        <Rounds trial={trial} metric={metric} />
      </Panel>
      <RoundsTable trial={trial} metric={metric} />
      {trial.about?.again && <Panel title={t('data.trial.again')}><Command text={'gowhy ' + trial.about.again.map(quoted).join(' ')} /></Panel>}
    </>
  )
}

// quoted is an argument as a shell takes it.
function quoted(s: string): string {
  return /^[\w@%+=:,./-]+$/.test(s) ? s : `'${s.replaceAll("'", "'\\''")}'`
}

// Expected puts what was expected beside what was measured.
function Expected(p: { trial: Trial; measured: Effect | undefined }): JSX.Element | null {
  const q = p.trial.predicted
  const expect = p.trial.about?.finding?.expect
  if (!q && !expect?.method) return null
  return (
    <dl class="data-facts">
      {q?.best ? <><dt>{t('data.trial.promised')}</dt><dd>{t('data.trial.best', { change: changeText(q.best), metric: q.metric, method: q.method ?? '' })}</dd></> : null}
      {q?.estimate ? <><dt>{t('data.trial.predicted')}</dt><dd>{t('data.trial.estimate', { change: changeText(q.estimate), metric: q.metric, method: q.replay ?? '' })}</dd></> : null}
      {!q && expect ? <><dt>{t('data.trial.promised')}</dt><dd>{num(expect.value, expect.unit)} · {expect.method}</dd></> : null}
      {p.measured ? <><dt>{t('data.trial.measured')}</dt><dd>{intervalText(p.measured)} · {p.measured.metric}</dd></> : null}
    </dl>
  )
}

function About(p: { trial: Trial }): JSX.Element | null {
  const a = p.trial.about
  if (!a) return null
  return (
    <>
      <div class="cmp-sides">
        <ArmFacts letter="A" arm={a.a} />
        <ArmFacts letter="B" arm={a.b} />
      </div>
      <dl class="data-facts">
        {a.finding && <><dt>{t('data.trial.finding')}</dt><dd>{a.finding.title} <span class="muted">({a.finding.rule})</span></dd></>}
        {a.load && <><dt>{t('data.trial.load')}</dt><dd class="mono">{a.load}</dd></>}
        {a.diagnosed && <><dt>{t('data.trial.gone')}</dt><dd>{claims(a.gone)}</dd><dt>{t('data.trial.came')}</dt><dd>{claims(a.came)}</dd></>}
        <dt>{t('data.trial.design')}</dt>
        <dd>{t('data.trial.pairs', { pairs: p.trial.pairs, most: p.trial.most, dropped: p.trial.dropped, margin: share(p.trial.margin), took: dur(p.trial.took_ns) })}{p.trial.busy ? ' · ' + t('data.trial.busy') : ''}</dd>
      </dl>
    </>
  )
}

function claims(list: Claim[] | undefined): string {
  return list?.length ? list.map((c) => `${c.title} (${c.rule})`).join('; ') : t('data.trial.noclaims')
}

function ArmFacts(p: { letter: string; arm: Arm }): JSX.Element {
  const command = (p.arm.command ?? []).join(' ')
  const facts = [(p.arm.env ?? []).join(' '), p.arm.name ? command : '', p.arm.revision].filter(Boolean)
  return (
    <div class="cmp-side">
      <b class="cmp-letter">{p.letter}</b>
      <span><b>{p.arm.name || command}</b><br /><span class="muted mono">{facts.join(' · ')}</span></span>
    </div>
  )
}

export function EffectsTable(p: { trial: Trial }): JSX.Element {
  const effects = p.trial.effects ?? []
  const cols: Col<Effect>[] = [
    { key: 'metric', title: t('data.cmp.metric'), width: 'minmax(9rem, 2fr)', cell: (e) => (e.metric === p.trial.primary ? <b>{e.metric}</b> : e.metric), text: (e) => e.metric },
    { key: 'a', title: t('data.trial.a'), align: 'right', width: '7rem', cell: (e) => metricText(e.metric, e.a), text: (e) => String(e.a ?? '') },
    { key: 'b', title: t('data.trial.b'), align: 'right', width: '7rem', cell: (e) => metricText(e.metric, e.b), text: (e) => String(e.b ?? '') },
    ...measuredColumns(effects, guardRatio),
    { key: 'guard', title: t('data.trial.guard'), width: 'minmax(12.5rem, 1.2fr)', cell: guardText },
    { key: 'pairs', title: t('data.cmp.pairs'), align: 'right', cell: (e) => e.pairs },
  ]
  return <Table caption={t('data.trial.effects')} cols={cols} rows={effects} height={520} />
}

/** Where a guard's limit is as a ratio of B to A. */
function guardRatio(e: Effect): number | undefined {
  if (e.guard === undefined) return undefined
  return e.metric.endsWith('/s') ? 1 / (1 + e.guard) : 1 + e.guard
}

function guardText(e: Effect): JSX.Element | string {
  if (e.guard === undefined) return e.need ? t('data.trial.need', { n: e.need }) : ''
  const [word, sign, tone] = e.broken ? ['data.trial.broken', '✗', 'bad'] as const : e.unclear ? ['data.trial.unclear', '?', 'unsure'] as const : ['data.trial.held', '✓', toneOf('improved')] as const
  return <span class={`data-verdict data-${tone}`}><span class="mark" aria-hidden="true">{sign}</span>{t(word, { limit: share(e.guard) })}</span>
}

function RoundsTable(p: { trial: Trial; metric: string }): JSX.Element {
  const condition = (key: string, title: string, of: (r: Round) => number): Col<Round> => ({
    key, title, align: 'right', sortable: true, value: of, cell: (r) => (of(r) < 0 ? '–' : share(of(r))), text: (r) => String(of(r)),
  })
  const cols: Col<Round>[] = [
    { key: 'pair', title: t('data.trial.pairno'), align: 'right', width: '4.6rem', sortable: true, value: (r) => r.pair, cell: (r) => (r.pair > 0 ? r.pair : t('data.trial.before')) },
    { key: 'arm', title: t('data.trial.arm'), width: '4.1rem', sortable: true, value: (r) => r.arm, cell: (r) => r.arm },
    { key: 'value', title: p.metric, align: 'right', width: '8.1rem', sortable: true, value: (r) => r.values?.[p.metric], cell: (r) => metricText(p.metric, r.values?.[p.metric]), text: (r) => String(r.values?.[p.metric] ?? '') },
    { key: 'elapsed', title: t('data.trial.took'), align: 'right', sortable: true, value: (r) => r.elapsed_ns, cell: (r) => dur(r.elapsed_ns), text: (r) => String(r.elapsed_ns) },
    condition('others', t('data.trial.others'), (r) => r.conditions?.others ?? -1),
    condition('steal', t('data.trial.steal'), (r) => r.conditions?.steal ?? -1),
    condition('pressure', t('data.trial.pressure'), (r) => r.conditions?.pressure ?? -1),
    { key: 'note', title: t('data.trial.note'), width: 'minmax(12rem, 2fr)', cell: (r) => [r.count ? t('data.trial.counting') : '', r.dropped, ...(r.warnings ?? [])].filter(Boolean).join(' · ') },
  ]
  return <Table caption={t('data.trial.each', { n: p.trial.rounds.length })} cols={cols} rows={p.trial.rounds} height={380} />
}
