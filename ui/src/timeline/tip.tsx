// What the pointer is over.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { at as moment, count, dur, num, share } from '../format'
import type { Chart, Hit } from './draw'
import { nameOf } from './labels'
import { brief, isSingle } from './lanes'
import { stateIn, Swatch } from './legend'
import type { Theme } from './draw'

/** x and y are of the page. */
export interface Pointed {
  hit: Hit
  x: number
  y: number
}

/**
 * What is known of a share that comes in steps and was rounded up: that it is less than
 * one step, or its middle with the digits that a step leaves.
 */
export function about(most: number, step: number, text: (n: number) => string): string {
  const unit = 10 ** Math.floor(Math.log10(step))
  if (most < 1.5 * step) return '< ' + text(Number((Math.ceil((10 * most) / unit - 1e-9) * (unit / 10)).toPrecision(2)))
  return '≈ ' + text(Number((Math.round((most - step / 2) / unit) * unit).toPrecision(6)))
}

/** A Tip is told what it shows by a function: a pointer moves too often for the screen to render again. */
export function Tip(p: { listen(show: (p: Pointed | undefined) => void): void; states: string[]; theme(): Theme | undefined; charts: ReadonlyMap<string, Chart> }): JSX.Element | null {
  const [now, set] = useState<Pointed | undefined>(undefined)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => p.listen(set), [])
  useEffect(() => {
    const el = box.current
    if (!el || !now) return
    // Beside the pointer, and inside of the page.
    const { offsetWidth: w, offsetHeight: h } = el
    el.style.left = (now.x + 16 + w > innerWidth ? Math.max(0, now.x - 12 - w) : now.x + 16) + 'px'
    el.style.top = (now.y + 18 + h > innerHeight ? Math.max(0, now.y - 12 - h) : now.y + 18) + 'px'
  }, [now])
  if (!now) return null
  const { hit } = now
  const theme = p.theme()
  const kind = hit.row.lane?.kind ?? ''
  const single = isSingle(kind)
  const chart = p.charts.get(hit.row.id)
  return (
    <div ref={box} class="tl-tip card" aria-hidden="true">
      <b class="clip">{nameOf(hit.row)}</b>
      <span class="muted">{moment(hit.at)}</span>
      {chart?.lines.map((l, i) => <span key={i}>{l.name}: {num(l.outline.at(hit.at), chart.unit)}</span>)}
      {hit.span && hit.span.state >= 0 && (
        <>
          <span><Swatch state={hit.span.state} theme={theme} /> {stateIn(kind, p.states[hit.span.state] ?? '')}{hit.span.reason ? ': ' + hit.span.reason : ''}</span>
          <span>{dur(hit.span.to_ns - hit.span.from_ns)}</span>
          {hit.span.goroutine > 0 && <span class="clip">{brief(hit.span.group)} {hit.span.goroutine}</span>}
        </>
      )}
      {hit.bucket.map((b) => (
        <span key={b.state}><Swatch state={b.state} theme={theme} /> {stateIn(kind, p.states[b.state] ?? '')}: {about(b.most, b.step, single ? share : count)}</span>
      ))}
    </div>
  )
}
