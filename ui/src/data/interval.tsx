import type { JSX } from 'preact'
import { figures } from '../format'
import { t } from '../strings'
import { changeAt, type Change } from './scale'

/** The colours of a change: whether it is for the better is not a matter of its sign. */
export type Tone = 'good' | 'bad' | 'unsure' | 'same'

/** A change as words: "−12.3%", "×3.40", "none". */
export function changeText(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return '–'
  if (ratio >= 3) return '×' + figures(ratio)
  const percent = (ratio - 1) * 100
  if (Math.abs(percent) < 0.05) return '0%'
  return `${percent > 0 ? '+' : '−'}${Math.abs(percent).toFixed(Math.abs(percent) < 9.95 ? 1 : 0)}%`
}

/** An interval in words. */
export function intervalText(c: Change): string {
  if (c.low === null && c.high === null) return changeText(c.ratio)
  return t('data.interval', { est: changeText(c.ratio), low: changeText(c.low), high: changeText(c.high) })
}

const WIDTH = 160
const TALL = 22
const LOW = 12

/**
 * A change on an axis of log ratios, with a line where nothing changed. What goes
 * beyond the axis ends in an arrow.
 */
export function IntervalPlot(p: { change: Change; span: number; tone: Tone; guard?: number | undefined; low?: boolean }): JSX.Element {
  const c = p.change
  const height = p.low ? LOW : TALL // two of the low ones fit a row of a table
  const middle = height / 2
  const at = (v: number | null, otherwise: number) => (v === null ? { at: otherwise, beyond: true } : changeAt(v, p.span, WIDTH))
  const low = at(c.low, 0), high = at(c.high, WIDTH)
  const point = c.ratio === null ? null : changeAt(c.ratio, p.span, WIDTH)
  const banded = c.low !== null || c.high !== null
  return (
    <svg class={`interval data-${p.tone}`} viewBox={`-6 0 ${WIDTH + 12} ${height}`} width={WIDTH + 12} height={height} role="img" aria-label={intervalText(c)}>
      <title>{intervalText(c)}</title>
      <line class="interval-edge" x1="0" x2={WIDTH} y1={height - 1} y2={height - 1} />
      <line class="interval-zero" x1={WIDTH / 2} x2={WIDTH / 2} y1="1" y2={height - 1} />
      {p.guard !== undefined && <line class="interval-zero" stroke-dasharray="2 2" x1={changeAt(p.guard, p.span, WIDTH).at} x2={changeAt(p.guard, p.span, WIDTH).at} y1="1" y2={height - 1} />}
      {banded && <line class="interval-band" x1={low.at} x2={high.at} y1={middle} y2={middle} />}
      {banded && <End at={low.at} beyond={low.beyond} side={-1} middle={middle} />}
      {banded && <End at={high.at} beyond={high.beyond} side={1} middle={middle} />}
      {!banded && point && <line class="interval-band" x1={WIDTH / 2} x2={point.at} y1={middle} y2={middle} />}
      {point && (point.beyond ? <End at={point.at} beyond side={point.at > WIDTH / 2 ? 1 : -1} middle={middle} /> : <circle class="interval-point" cx={point.at} cy={middle} r="3.5" />)}
    </svg>
  )
}

// End closes an interval: with a stroke, or with an arrow where it goes on.
function End(p: { at: number; beyond: boolean; side: 1 | -1; middle: number }): JSX.Element {
  const { middle } = p
  if (!p.beyond) return <line class="interval-band" x1={p.at} x2={p.at} y1={middle - 4} y2={middle + 4} />
  return <path class="interval-point" d={`M${p.at} ${middle - 4}L${p.at + 5 * p.side} ${middle}L${p.at} ${middle + 4}Z`} />
}
