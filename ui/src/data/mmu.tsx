// The minimum mutator utilization: for windows of each length, how much of its Ps
// the program had in the one in which it had least. A short window shows single
// pauses, a long one what the collector takes in the long run.
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { MMU, Worst } from '../api'
import { isStatic, useData } from '../client'
import { at as moment, dur, share } from '../format'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { setParams, usePlace } from '../url'
import { useWidth } from './hooks'
import { Panel } from './panel'
import { scale, ticks } from './scale'

const FLAGS = ['stw', 'background', 'assist', 'sweep', 'perproc'] as const
const USUAL = 10e6

export function MMUPanel(p: { r: number; first: MMU }): JSX.Element {
  const { params } = usePlace()
  const lengths = p.first.window_ns ?? []
  const low = lengths[0] ?? 1e3, high = lengths[lengths.length - 1] ?? 1e9
  const asked = Number(params.get('window'))
  const window = asked > 0 ? Math.min(high, Math.max(low, Math.round(asked))) : Math.min(high, USUAL)
  const flags = params.get('flags') || undefined
  const { data } = useData<MMU>('api/mmu', !isStatic && (params.has('window') || flags) ? { r: p.r, flags, window } : { r: p.r })
  const mmu = data ?? p.first
  const [moving, setMoving] = useState<number | null>(null)
  const shown = moving ?? window
  const step = (Math.log10(high) - Math.log10(low)) / 400
  return (
    <Panel title={t('data.mmu.title')} id="chart-mmu">
      <p class="data-note">{t('data.mmu.what')}</p>
      <div class="mmu-controls">
        <label class="data-field">
          <span>{t('data.mmu.window')}</span>
          <input
            type="range"
            min={Math.log10(low)}
            max={Math.log10(high)}
            step={step}
            value={Math.log10(shown)}
            aria-valuetext={dur(shown)}
            onInput={(e) => setMoving(round(10 ** Number(e.currentTarget.value), low, high))}
            onChange={(e) => {
              setParams({ window: round(10 ** Number(e.currentTarget.value), low, high) }, { replace: true })
              setMoving(null)
            }}
          />
          <b>{dur(shown)}</b>
        </label>
        {!isStatic && <Flags on={mmu.flags ?? []} />}
      </div>
      <p class="mmu-say">{t('data.mmu.say', { window: dur(shown), util: share(utilAt(mmu, shown)), mean: share(mmu.mean) })}</p>
      <div class="mmu-grid">
        <Curve mmu={mmu} window={shown} />
        {(mmu.worst?.length ?? 0) > 0 && <WorstTable worst={mmu.worst ?? []} />}
      </div>
    </Panel>
  )
}

function round(ns: number, low: number, high: number): number {
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(ns)) - 2)
  return Math.min(high, Math.max(low, Math.round(ns / digits) * digits))
}

// Flags chooses what of the collector counts. One of the loads has to.
function Flags(p: { on: readonly string[] }): JSX.Element {
  const loads = p.on.filter((f) => f !== 'perproc')
  const flip = (f: string) => {
    const next = p.on.includes(f) ? p.on.filter((o) => o !== f) : [...p.on, f]
    setParams({ flags: next.length === 0 ? null : next.join(',') }, { replace: true })
  }
  return (
    <fieldset class="mmu-flags">
      <legend>{t('data.mmu.counts')}</legend>
      {FLAGS.map((f) => (
        <label key={f} title={tn(`data.mmu.${f}.help`)}>
          <input type="checkbox" checked={p.on.includes(f)} disabled={loads.length === 1 && loads[0] === f} onChange={() => flip(f)} />
          {tn(`data.mmu.${f}`, f)}
        </label>
      ))}
    </fieldset>
  )
}

/** The utilization of the worst window of a length: as computed, or between the lengths that were. */
export function utilAt(mmu: { window_ns: number[] | null; util: number[] | null; worst?: Worst[] | null }, window: number): number {
  const worst = mmu.worst?.[0]
  if (worst?.window_ns === window) return worst.util
  const lengths = mmu.window_ns ?? [], util = mmu.util ?? []
  if (lengths.length === 0) return NaN
  let i = lengths.findIndex((w) => w >= window)
  if (i < 0) i = lengths.length - 1
  const w1 = lengths[i] as number, u1 = util[i] as number
  if (i === 0 || w1 <= window) return u1
  const w0 = lengths[i - 1] as number, u0 = util[i - 1] as number
  return u0 + ((u1 - u0) * Math.log(window / w0)) / Math.log(w1 / w0)
}

const HEIGHT = 230

function Curve(p: { mmu: MMU; window: number }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box, 560)
  const lengths = p.mmu.window_ns ?? [], util = p.mmu.util ?? []
  const low = lengths[0] ?? 1, high = lengths[lengths.length - 1] ?? 2
  const x = scale(low, high, 46, width - 12, true)
  const y = scale(0, 1, HEIGHT - 24, 10)
  const points = lengths.map((w, i) => `${x(w).toFixed(1)},${y(util[i] ?? 0).toFixed(1)}`)
  const here = utilAt(p.mmu, p.window)
  return (
    <div ref={box}>
      <svg class="mmu-svg" role="img" viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} aria-label={t('data.mmu.alt', { window: dur(p.window), util: share(here) })}>
        {[0, 0.25, 0.5, 0.75, 1].map((u) => (
          <g key={u}>
            <line class="grid" x1={46} x2={width - 12} y1={y(u)} y2={y(u)} />
            <text x={40} y={y(u) + 4} text-anchor="end">{u * 100}%</text>
          </g>
        ))}
        {ticks(low, high, width / 90, true).map((w) => (
          <g key={w}>
            <line class="grid" x1={x(w)} x2={x(w)} y1={10} y2={HEIGHT - 24} />
            <text x={x(w)} y={HEIGHT - 8} text-anchor="middle">{dur(w)}</text>
          </g>
        ))}
        {points.length > 1 && <polygon class="area" points={`${x(low)},${y(0)} ${points.join(' ')} ${x(high)},${y(0)}`} />}
        <polyline class="curve" points={points.join(' ')} />
        <line class="mean" x1={46} x2={width - 12} y1={y(p.mmu.mean)} y2={y(p.mmu.mean)} />
        <line class="here" x1={x(p.window)} x2={x(p.window)} y1={10} y2={HEIGHT - 24} />
        {Number.isFinite(here) && <circle class="dot" cx={x(p.window)} cy={y(here)} r="4" />}
      </svg>
    </div>
  )
}

function WorstTable(p: { worst: Worst[] }): JSX.Element {
  const cols: Col<Worst>[] = [
    { key: 'at', title: t('data.mmu.at'), align: 'right', sortable: true, width: 'minmax(8.1rem, 1fr)', value: (w) => w.at_ns, cell: (w) => moment(w.at_ns, 1000) },
    { key: 'util', title: t('data.mmu.had'), align: 'right', sortable: true, value: (w) => w.util, cell: (w) => share(w.util) },
  ]
  const link = (w: Worst) => {
    const room = w.window_ns / 4
    return `timeline?from=${Math.max(0, Math.round(w.at_ns - room))}&to=${Math.round(w.at_ns + w.window_ns + room)}`
  }
  return <Table caption={t('data.mmu.worst', { window: dur(p.worst[0]?.window_ns ?? 0) })} cols={cols} rows={p.worst} rowHref={link} height={300} />
}
