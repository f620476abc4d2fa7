// Columns and words that all tables share in which two runs stand beside each other.
import type { JSX } from 'preact'
import type { Col } from '../parts/table'
import { t, tn } from '../strings'
import { changeText, intervalText, IntervalPlot, type Tone } from './interval'
import type { Verdict } from './results'
import { changeSpan, type Change } from './scale'

export function numbers<R>(key: string, title: string, of: (r: R) => number | null, text: (v: number, r: R) => string): Col<R> {
  return {
    key, title, align: 'right', sortable: true, width: '7rem',
    value: of,
    cell: (r) => {
      const v = of(r)
      return v === null ? '–' : text(v, r)
    },
    text: (r) => String(of(r) ?? ''),
  }
}

export function ratioColumn<R>(of: (r: R) => number | null): Col<R> {
  return { key: 'ratio', title: t('data.cmp.change'), align: 'right', sortable: true, width: '6.4rem', value: of, cell: (r) => changeText(of(r)), text: (r) => String(of(r) ?? '') }
}

/** How a verdict looks: for the better, for the worse, neither, or nobody knows. */
export function toneOf(v: Verdict): Tone {
  return v === 'improved' ? 'good' : v === 'regressed' ? 'bad' : v === 'same' ? 'same' : 'unsure'
}

const VERDICT_SIGNS: Record<Verdict, string> = { improved: '✓', regressed: '✗', changed: '≠', same: '=', inconclusive: '?' }

/** A verdict as a word with its sign. */
export function VerdictWord(p: { verdict: Verdict }): JSX.Element {
  return (
    <span class={`data-verdict data-${toneOf(p.verdict)}`}>
      <span class="mark" aria-hidden="true">{VERDICT_SIGNS[p.verdict] ?? '?'}</span>{tn('data.verdict.' + p.verdict, p.verdict)}
    </span>
  )
}

interface Measured { ratio: number | null; low?: number | null; high?: number | null; p?: number | null; exact?: boolean; verdict: Verdict }

/** The columns of everything that was measured repeatedly: change, interval, p, verdict. */
export function measuredColumns<R extends Measured>(rows: readonly R[], guard?: (r: R) => number | undefined): Col<R>[] {
  const change = (r: R): Change => ({ ratio: r.ratio, low: r.low ?? null, high: r.high ?? null })
  const span = changeSpan(rows.map(change))
  return [
    ratioColumn((r) => r.ratio),
    { key: 'plot', title: `${changeText(2 ** -span)} … ${changeText(2 ** span)}`, width: '10.5rem', cell: (r) => (r.ratio === null ? '' : <IntervalPlot change={change(r)} span={span} tone={toneOf(r.verdict)} guard={guard?.(r)} />), text: (r) => intervalText(change(r)) },
    { key: 'interval', title: t('data.cmp.interval'), align: 'right', width: '10.6rem', cell: (r) => (r.exact ? t('data.cmp.exact') : r.low == null && r.high == null ? '–' : `${changeText(r.low)} … ${changeText(r.high)}`) },
    { key: 'p', title: 'p', align: 'right', sortable: true, width: '5.8rem', help: t('data.cmp.p.help'), value: (r) => r.p, cell: (r) => pText(r) },
    { key: 'verdict', title: t('data.cmp.verdict'), sortable: true, width: '8.5rem', value: (r) => r.verdict, cell: (r) => <VerdictWord verdict={r.verdict} />, text: (r) => r.verdict },
  ]
}

export function pText(r: Measured): string {
  if (r.exact || r.p === null || r.p === undefined) return ''
  return r.p < 0.0001 ? '<0.0001' : String(Number(r.p.toPrecision(2)))
}
