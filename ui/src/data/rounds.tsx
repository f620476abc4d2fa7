// The rounds of a trial: a dot for each run, A and B beside each other, pairs
// joined by a line, and the median of each arm.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { t } from '../strings'
import { useWidth } from './hooks'
import { metricText, type Round, type Trial } from './results'
import { scale, ticks } from './scale'

const HEIGHT = 220

interface Dot {
  pair: number
  a: number | null
  b: number | null
}

/** The pairs of a metric that count, in order; an arm that did not measure it is null. */
export function pairsOf(rounds: readonly Round[], metric: string): Dot[] {
  const pairs = new Map<number, Dot>()
  for (const r of rounds) {
    const v = r.values?.[metric]
    if (r.pair < 1 || r.dropped || r.count || v === undefined) continue
    const dot = pairs.get(r.pair) ?? { pair: r.pair, a: null, b: null }
    if (r.arm === 'A') dot.a = v
    else dot.b = v
    pairs.set(r.pair, dot)
  }
  return [...pairs.values()].sort((x, y) => x.pair - y.pair)
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length / 2
  if (sorted.length === 0) return NaN
  return sorted.length % 2 === 1 ? (sorted[Math.floor(half)] as number) : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2
}

export function Rounds(p: { trial: Trial; metric: string }): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box, 600)
  const dots = pairsOf(p.trial.rounds, p.metric)
  const all = dots.flatMap((d) => [d.a, d.b]).filter((v): v is number => v !== null)
  if (all.length === 0) return <div ref={box}><p class="data-note">{t('data.trial.norounds')}</p></div>
  const low = Math.min(...all), high = Math.max(...all)
  const room = (high - low) * 0.08 || Math.abs(high) * 0.05 || 1
  const y = scale(Math.max(0, low - room), high + room, HEIGHT - 26, 12)
  const x = scale(0, dots.length, 86, width - 10)
  const step = x(1) - x(0)
  const apart = Math.min(9, step / 4)
  const medians = { A: median(dots.flatMap((d) => d.a ?? [])), B: median(dots.flatMap((d) => d.b ?? [])) }
  return (
    <div ref={box}>
      <svg class="rounds" role="img" viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} aria-label={t('data.trial.rounds.alt', { metric: p.metric, a: metricText(p.metric, medians.A), b: metricText(p.metric, medians.B), n: dots.length })}>
        {ticks(y.low, y.high, 5).map((v) => (
          <g key={v}>
            <line class="grid" x1={86} x2={width - 10} y1={y(v)} y2={y(v)} />
            <text x={80} y={y(v) + 4} text-anchor="end">{metricText(p.metric, v)}</text>
          </g>
        ))}
        {(['A', 'B'] as const).map((arm) => (
          Number.isFinite(medians[arm]) && <line key={arm} class={`median arm-${arm}`} x1={86} x2={width - 10} y1={y(medians[arm])} y2={y(medians[arm])} />
        ))}
        {dots.map((d, i) => {
          const at = x(i) + step / 2
          return (
            <g key={d.pair}>
              <title>{t('data.trial.pair', { n: d.pair, a: metricText(p.metric, d.a), b: metricText(p.metric, d.b) })}</title>
              {d.a !== null && d.b !== null && <line class="join" x1={at - apart} x2={at + apart} y1={y(d.a)} y2={y(d.b)} />}
              {d.a !== null && <circle class="dot arm-A" cx={at - apart} cy={y(d.a)} r="4" />}
              {d.b !== null && <rect class="dot arm-B" x={at + apart - 3.5} y={y(d.b) - 3.5} width="7" height="7" />}
              {(dots.length <= 20 || d.pair % 5 === 0) && step > 12 && <text x={at} y={HEIGHT - 8} text-anchor="middle">{d.pair}</text>}
            </g>
          )
        })}
      </svg>
      <p class="rounds-key">
        <svg width="12" height="12" aria-hidden="true"><circle class="dot arm-A" cx="6" cy="6" r="4" /></svg> A
        <svg width="12" height="12" aria-hidden="true"><rect class="dot arm-B" x="2.5" y="2.5" width="7" height="7" /></svg> B
        <span class="muted">{t('data.trial.lines')}</span>
      </p>
    </div>
  )
}
