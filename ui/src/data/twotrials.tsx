// Two trials of a change beside each other: what each found, and what became of it.
import type { JSX } from 'preact'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { pText, ratioColumn, toneOf, VerdictWord } from './columns'
import { changeText, IntervalPlot } from './interval'
import type { ClaimChange, Own, TrialsEffect } from './results'
import { changeSpan, type Change } from './scale'

function ownChange(ratio: number, own: Own | undefined): Change {
  return { ratio, low: own?.low ?? null, high: own?.high ?? null }
}

/** An effect with its own interval, like "−13.5% (−15.5% … −6.6%)". */
export function ownText(ratio: number, own: Own | undefined): string {
  const text = changeText(ratio)
  if (own?.exact) return `${text} (${t('data.cmp.exact')})`
  if (own?.low == null || own.high == null) return text
  return `${text} (${changeText(own.low)} … ${changeText(own.high)})`
}

export function Effects(p: { list: TrialsEffect[] }): JSX.Element {
  const both = (e: TrialsEffect) => [ownChange(e.a, e.own_a), ownChange(e.b, e.own_b)] as const
  // What was counted is often another by far; it ends in an arrow then, so that the
  // intervals can be seen.
  const timed = p.list.filter((e) => !e.own_a?.exact && !e.own_b?.exact)
  const span = changeSpan((timed.length > 0 ? timed : p.list).flatMap(both))
  const own = (key: 'a' | 'b', title: string, of: (e: TrialsEffect) => Own | undefined): Col<TrialsEffect> => (
    { key, title, align: 'right', width: '14.6rem', sortable: true, value: (e) => e[key], cell: (e) => ownText(e[key], of(e)) }
  )
  const cols: Col<TrialsEffect>[] = [
    { key: 'metric', title: t('data.cmp.metric'), width: 'minmax(9.5rem, 1fr)', cell: (e) => e.metric },
    own('a', t('data.cmp.effect', { side: 'A' }), (e) => e.own_a),
    own('b', t('data.cmp.effect', { side: 'B' }), (e) => e.own_b),
    { key: 'plot', title: `${changeText(2 ** -span)} … ${changeText(2 ** span)}`, width: '13rem', cell: (e) => <OwnPlots of={both(e)} verdicts={[e.own_a, e.own_b]} span={span} />, text: () => '' },
    { key: 'overlap', title: t('data.cmp.overlap'), width: '6.4rem', help: t('data.cmp.overlap.help'), cell: (e) => (e.overlap === undefined ? '–' : t(e.overlap ? 'data.cmp.overlaps' : 'data.cmp.apart')) },
    ratioColumn((e) => e.ratio),
    { key: 'interval', title: t('data.cmp.interval'), align: 'right', width: '11.8rem', cell: (e) => (e.low == null && e.high == null ? '–' : `${changeText(e.low)} … ${changeText(e.high)}`) },
    { key: 'p', title: 'p', align: 'right', sortable: true, width: '5.8rem', help: t('data.cmp.p.help'), value: (e) => e.p, cell: (e) => pText({ ...e, exact: e.by === 'ranges' }) },
    { key: 'verdict', title: t('data.cmp.verdict'), sortable: true, width: '11rem', value: (e) => e.verdict, cell: (e) => <VerdictWord verdict={e.verdict} />, text: (e) => e.verdict },
    { key: 'by', title: t('data.cmp.by'), width: '6.4rem', cell: (e) => (e.by ? tn('data.cmp.by.' + e.by, e.by) : '') },
    { key: 'pairs', title: t('data.cmp.pairs'), align: 'right', width: '5.8rem', cell: (e) => (e.by === 'rounds' || e.by === undefined ? `${e.pairs_a} + ${e.pairs_b}` : '') },
  ]
  return (
    <>
      <Table caption={t('data.cmp.effects')} cols={cols} rows={p.list} height={480} />
      <p class="data-note">{t('data.cmp.effects.how')}</p>
    </>
  )
}

// OwnPlots are the intervals of both trials on one axis, A above B.
function OwnPlots(p: { of: readonly [Change, Change]; verdicts: readonly (Own | undefined)[]; span: number }): JSX.Element {
  return (
    <span class="cmp-plots">
      {p.of.map((change, i) => <IntervalPlot key={i} change={change} span={p.span} tone={toneOf(p.verdicts[i]?.verdict ?? 'inconclusive')} low />)}
    </span>
  )
}

/** The findings that the change removed or brought, in which of both. */
export function Claims(p: { list: ClaimChange[] }): JSX.Element {
  const yes = (v: boolean) => t(v ? 'data.cmp.yes' : 'data.cmp.no')
  const cols: Col<ClaimChange>[] = [
    { key: 'title', title: t('data.trial.finding'), width: 'minmax(16rem, 2fr)', cell: (c) => <>{c.title} <span class="muted">({c.rule})</span></>, text: (c) => `${c.title} (${c.rule})` },
    { key: 'state', title: t('data.cmp.bychange'), width: '11rem', cell: (c) => tn('data.cmp.' + c.state, c.state) },
    { key: 'a', title: 'A', width: '5rem', cell: (c) => yes(c.a) },
    { key: 'b', title: 'B', width: '5rem', cell: (c) => yes(c.b) },
  ]
  return <Table caption={t('data.cmp.claims')} cols={cols} rows={p.list} height={300} />
}
