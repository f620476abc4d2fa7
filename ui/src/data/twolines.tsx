// Two curves in one picture: A with round points, B with square ones, each in the
// colour of its side.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { t } from '../strings'
import { useWidth } from './hooks'
import { scale, ticks, type Scale } from './scale'

/** A point of a curve. A hollow one is measured and may not be used. */
export interface Spot {
  x: number
  y: number
  low?: number | null
  high?: number | null
  hollow?: boolean
  title: string
}

export interface Side {
  spots: readonly Spot[]
  /** A value that is marked: with a line all the way up. */
  marked: number | null
}

interface Axis { text(v: number): string; title: string; log?: boolean; zero?: boolean }

const LEFT = 86
const RIGHT = 18
const HEIGHT = 250
const FOOT = 28

/** The range that both curves need on an axis; null when there is no point. */
export function range(values: readonly (number | null | undefined)[], axis: { log?: boolean; zero?: boolean }): [number, number] | null {
  const all = values.filter((v): v is number => v !== null && v !== undefined && Number.isFinite(v) && (!axis.log || v > 0))
  if (all.length === 0) return null
  const low = Math.min(...all), high = Math.max(...all)
  if (axis.log) return [low * 0.92, high * 1.08]
  const room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1
  return [axis.zero ? 0 : low >= 0 ? Math.max(0, low - room) : low - room, high + room]
}

export function TwoLines(p: { a: Side; b: Side; x: Axis; y: Axis; alt: string }): JSX.Element | null {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box, 720)
  const sides = { A: p.a, B: p.b }
  const spots = [...p.a.spots, ...p.b.spots]
  const xs = range([...spots.map((s) => s.x), p.a.marked, p.b.marked], { ...(p.x.log ? { log: true } : {}) })
  const ys = range(spots.flatMap((s) => [s.y, s.low, s.high]), p.y)
  if (!xs || !ys) return <div ref={box}><p class="data-note">{t('data.two.nothing')}</p></div>
  const x = scale(xs[0], xs[1], LEFT, width - RIGHT, p.x.log), y = scale(ys[0], ys[1], HEIGHT, 22, p.y.log)
  return (
    <div ref={box}>
      <svg class="two-svg" role="img" viewBox={`0 0 ${width} ${HEIGHT + FOOT}`} width={width} height={HEIGHT + FOOT} aria-label={p.alt}>
        <text x={LEFT} y={12}>{p.y.title}</text>
        {ticks(y.low, y.high, 5, y.log).map((v) => (
          <g key={v}>
            <line class="grid" x1={LEFT} x2={width - RIGHT} y1={y(v)} y2={y(v)} />
            <text x={LEFT - 6} y={y(v) + 4} text-anchor="end">{p.y.text(v)}</text>
          </g>
        ))}
        {ticks(x.low, x.high, width / 110, x.log).map((v) => <text key={v} x={x(v)} y={HEIGHT + 20} text-anchor="middle">{p.x.text(v)}</text>)}
        {(['A', 'B'] as const).map((arm) => <Curve key={arm} arm={arm} side={sides[arm]} x={x} y={y} />)}
      </svg>
      <p class="rounds-key two-svg">
        <svg width="12" height="12" aria-hidden="true"><circle class="arm-A" cx="6" cy="6" r="4" /></svg> A
        <svg width="12" height="12" aria-hidden="true"><rect class="arm-B" x="2.5" y="2.5" width="7" height="7" /></svg> B
        <span class="muted">{p.x.title}</span>
      </p>
    </div>
  )
}

function Curve(p: { arm: 'A' | 'B'; side: Side; x: Scale; y: Scale }): JSX.Element {
  const { x, y, arm } = p
  const right = arm === 'B'
  return (
    <g class={`two-${arm}`}>
      {p.side.marked !== null && (
        <>
          <line class={`two-marked arm-${arm}`} x1={x(p.side.marked)} x2={x(p.side.marked)} y1="22" y2={HEIGHT} />
          <text x={x(p.side.marked) + (right ? 4 : -4)} y="32" text-anchor={right ? 'start' : 'end'}>{arm}</text>
        </>
      )}
      <polyline class={`arm-${arm}`} points={p.side.spots.map((s) => `${x(s.x).toFixed(1)},${y(s.y).toFixed(1)}`).join(' ')} />
      {p.side.spots.map((s, i) => (
        <g key={i}>
          <title>{s.title}</title>
          {s.low != null && s.high != null && <line class={`arm-${arm}`} x1={x(s.x)} x2={x(s.x)} y1={y(s.low)} y2={y(s.high)} />}
          {arm === 'A'
            ? <circle class={`spot arm-A${s.hollow ? ' hollow' : ''}`} cx={x(s.x)} cy={y(s.y)} r="4" />
            : <rect class={`spot arm-B${s.hollow ? ' hollow' : ''}`} x={x(s.x) - 3.5} y={y(s.y) - 3.5} width="7" height="7" />}
        </g>
      ))}
    </g>
  )
}
