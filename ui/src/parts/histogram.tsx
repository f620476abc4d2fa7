// A distribution of durations on a logarithmic axis: a bar for each bucket, marks
// for the median, the 90th and the 99th percentile and the largest, and a table
// with the figures behind it. The heights are linear in the count; a bucket with
// anything in it is at least a pixel high, because the rare slow ones are what
// one looks for.
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Histogram as Buckets } from '../api'
import { useWidth } from '../data/hooks'
import { scale, ticks, type Scale } from '../data/scale'
import { count, dur, share } from '../format'
import { t } from '../strings'
import { Table, type Col } from './table'
import './histogram.css'

export function Histogram(p: { title: string; of: Buckets; height?: number }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box, 480)
  const [open, setOpen] = useState(false)
  const h = p.of
  return (
    <figure class="histogram">
      <figcaption>
        <span class="histogram-title">{p.title}</span>
        <button type="button" class="quiet" aria-pressed={open} onClick={() => setOpen(!open)}>{t('data.chart.table')}</button>
      </figcaption>
      <Quantiles of={h} />
      <div ref={box}>{h.n > 0 && <Bars {...p} width={width} height={p.height ?? 132} />}</div>
      {open && <Behind {...p} />}
    </figure>
  )
}

const MARKS = [
  { name: 'p50', key: 'p50_ns' },
  { name: 'p90', key: 'p90_ns' },
  { name: 'p99', key: 'p99_ns' },
  { name: 'max', key: 'max_ns' },
] as const

/** The figures of a distribution in words. */
export function Quantiles(p: { of: Buckets }): JSX.Element {
  return (
    <dl class="quantiles">
      <div><dt>n</dt><dd>{count(p.of.n)}</dd></div>
      <div><dt>{t('data.hist.mean')}</dt><dd>{dur(p.of.mean_ns)}</dd></div>
      {MARKS.map((m) => <div key={m.name}><dt>{m.name}</dt><dd>{dur(p.of[m.key])}</dd></div>)}
    </dl>
  )
}

interface Bar {
  low: number
  high: number
  n: number
}

/** Buckets that have something, with a lower end that a logarithm has. */
export function bars(h: Buckets): Bar[] {
  return h.counts.map((n, i) => {
    const high = Math.max(1, h.high_ns[i] ?? 0)
    return { low: Math.max(1, Math.min(h.low_ns[i] ?? 0, high)), high, n }
  }).filter((b) => b.n > 0)
}

function span(h: Buckets): [number, number] {
  const list = bars(h)
  const low = Math.min(...list.map((b) => b.low))
  const high = Math.max(...list.map((b) => b.high), h.max_ns)
  return high > low * 1.5 ? [low, high] : [low / 1.5, high * 1.5]
}

const FOOT = 20
const HEAD = 15

function Bars(p: { title: string; of: Buckets; width: number; height: number }): JSX.Element {
  const [low, high] = span(p.of)
  const x = scale(low, high, 4, p.width - 4, true)
  const list = bars(p.of)
  const y = scale(0, Math.max(...list.map((b) => b.n)), p.height - FOOT, HEAD)
  return (
    <svg class="histogram-svg" role="img" aria-label={alt(p.title, p.of)} viewBox={`0 0 ${p.width} ${p.height}`} width={p.width} height={p.height}>
      {ticks(low, high, p.width / 70, true).map((v) => (
        <g key={v} class="histogram-axis">
          <line x1={x(v)} x2={x(v)} y1={HEAD} y2={p.height - FOOT + 4} />
          <text x={Math.min(p.width - 24, Math.max(24, x(v)))} y={p.height - 4} text-anchor="middle">{dur(v)}</text>
        </g>
      ))}
      {list.map((b) => {
        const top = Math.min(y(b.n), p.height - FOOT - 1.5)
        return (
          <rect key={b.low} class="histogram-bar" x={x(b.low)} y={top} width={Math.max(1, x(b.high) - x(b.low) - 0.5)} height={p.height - FOOT - top}>
            <title>{`${dur(b.low)} – ${dur(b.high)}: ${count(b.n)}`}</title>
          </rect>
        )
      })}
      <Marks of={p.of} x={x} height={p.height} />
    </svg>
  )
}

// Marks puts a dashed line at each quantile; a name that would stand on another
// one's is left out, the table above has it.
function Marks(p: { of: Buckets; x: Scale; height: number }): JSX.Element {
  let last = -Infinity
  return (
    <g class="histogram-marks">
      {MARKS.map((m) => {
        const at = p.x(Math.max(1, p.of[m.key]))
        const atEdge = at > p.x(p.x.high) - 14
        const left = atEdge ? at - 24 : at - 12
        const room = left > last
        if (room) last = at + 14
        return (
          <g key={m.name}>
            <line x1={at} x2={at} y1={HEAD - 3} y2={p.height - FOOT} />
            {room && <text x={at} y={HEAD - 5} text-anchor={atEdge ? 'end' : 'middle'}>{m.name}</text>}
          </g>
        )
      })}
    </g>
  )
}

/** A distribution as small as a word, for the row of a table. */
export function Spark(p: { of: Buckets; low: number; high: number }): JSX.Element | null {
  const list = bars(p.of)
  if (list.length === 0) return null
  const x = scale(p.low, p.high, 0, 120, true)
  const y = scale(0, Math.max(...list.map((b) => b.n)), 0, 20)
  return (
    <svg class="histogram-spark" viewBox="0 0 120 22" width="120" height="22" aria-hidden="true">
      {list.map((b) => {
        const height = Math.max(1.5, y(b.n))
        return <rect key={b.low} x={x(b.low)} y={21 - height} width={Math.max(1, x(b.high) - x(b.low))} height={height} />
      })}
      <line x1="0" x2="120" y1="21.5" y2="21.5" />
    </svg>
  )
}

/** The span that sparks of several distributions share, so that they can be compared. */
export function commonSpan(all: readonly Buckets[]): [number, number] {
  const some = all.filter((h) => bars(h).length > 0).map(span)
  if (some.length === 0) return [1, 10]
  return [Math.min(...some.map((s) => s[0])), Math.max(...some.map((s) => s[1]))]
}

function alt(title: string, h: Buckets): string {
  return `${title}: ` + MARKS.map((m) => `${m.name} ${dur(h[m.key])}`).join(', ')
}

function Behind(p: { title: string; of: Buckets }): JSX.Element {
  const cols: Col<Bar>[] = [
    { key: 'low', title: t('data.hist.from'), align: 'right', cell: (b) => dur(b.low), text: (b) => String(b.low) },
    { key: 'high', title: t('data.hist.to'), align: 'right', cell: (b) => dur(b.high), text: (b) => String(b.high) },
    { key: 'n', title: t('data.hist.count'), align: 'right', cell: (b) => count(b.n), text: (b) => String(b.n) },
    { key: 'share', title: t('data.hist.share'), align: 'right', cell: (b) => share(b.n / Math.max(1, p.of.n)) },
  ]
  return <Table caption={p.title} cols={cols} rows={bars(p.of)} height={280} />
}
