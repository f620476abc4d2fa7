// Who waits for which lock, and who holds it, as a picture: those that wait on the left,
// locks in the middle, holders on the right. A holder that waits for another lock has an
// arrow back to that; where such arrows close a ring, it is a deadlock.
import type { JSX } from 'preact'
import type { StandingLock } from '../api'
import { short } from '../flame/text'
import { count, dur } from '../format'
import { t } from '../strings'
import { arrange, BOX, DRAWN, lockName, type Box, type Edge } from './standings'
import './waitgraph.css'

/** Characters that fit into a box, in the font of code. */
const FITS = 34

export function WaitGraph(p: { locks: StandingLock[] }): JSX.Element {
  const { boxes, edges, height } = arrange(p.locks)
  const width = 2 * BOX.column + BOX.width + 8
  const lock = (id: number) => p.locks.find((l) => l.id === id)!
  const waiter = (b: Box) => p.locks.flatMap((l) => l.waiters).find((w) => w.group === b.of)!
  const holder = (b: Box) => p.locks.flatMap((l) => l.holders).find((h) => h.group === b.of)!
  return (
    <div class="waitgraph">
      <svg viewBox={`0 0 ${width} ${height + 26}`} role="img" aria-label={t('data.st.graph')}>
        <defs>
          <marker id="wg-end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="wg-head" /></marker>
          <marker id="wg-ring" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="wg-head wg-head-ring" /></marker>
        </defs>
        {[t('data.st.waiting'), t('data.st.lock'), t('data.st.holder')].map((title, i) => <text key={i} class="wg-title" x={4 + i * BOX.column} y="14">{title}</text>)}
        <g transform="translate(0 22)">
          {edges.map((e) => <path key={e.from.key + e.to.key} class={`wg-edge wg-${e.kind}${e.cycle ? ' wg-ring' : ''}`} d={curve(e)} marker-end={`url(#${e.cycle ? 'wg-ring' : 'wg-end'})`} />)}
          {boxes.waiters.map((b) => {
            const w = waiter(b)
            return <Node key={b.key} b={b} name={w.function} below={`${count(w.count)} · ${w.state}${w.waited_ns > 0 ? ` · ${dur(w.waited_ns)}` : ''}`} class="wg-waiter" />
          })}
          {boxes.locks.map((b) => {
            const l = lock(b.of)
            const below = t('data.st.queue', { n: count(l.waiting) }) + (l.holders.length === 0 ? ' · ' + t('data.st.unseen') : '')
            return <Node key={b.key} b={b} name={`${l.id} ${lockName(l)}`} full={l.name} below={below} class={`wg-lock${l.cycle > 0 ? ' wg-ring' : ''}`} />
          })}
          {boxes.holders.map((b) => {
            const h = holder(b)
            return <Node key={b.key} b={b} name={h.function} below={`${h.count > 1 ? count(h.count) + ' · ' : ''}${h.state}${h.waited_ns > 0 ? ` · ${dur(h.waited_ns)}` : ''}`} class={`wg-holder${h.sure ? '' : ' wg-guess'}`} />
          })}
        </g>
      </svg>
      {p.locks.length > DRAWN && <p class="data-note">{t('data.st.notdrawn', { n: p.locks.length - DRAWN })}</p>}
    </div>
  )
}

function Node(p: { b: Box; name: string; full?: string; below: string; class: string }): JSX.Element {
  return (
    <g class={p.class} transform={`translate(${p.b.x} ${p.b.y})`}>
      <title>{`${p.full ?? p.name}\n${p.below}`}</title>
      <rect width={BOX.width} height={BOX.height} rx="6" />
      <text class="wg-name" x="10" y="16">{fit(short(p.name), FITS)}</text>
      <text class="wg-below" x="10" y="32">{fit(p.below, FITS + 8)}</text>
    </g>
  )
}

// fit keeps the end of a name, which tells it from others.
function fit(text: string, most: number): string {
  const all = [...text]
  return all.length <= most ? text : '…' + all.slice(all.length - most + 1).join('')
}

function curve(e: Edge): string {
  const back = e.to.x < e.from.x
  const x1 = back ? e.from.x : e.from.x + BOX.width
  const x2 = back ? e.to.x + BOX.width + 2 : e.to.x - 2
  // What comes back stands beside what goes, where both are between the same boxes.
  const y1 = e.from.y + BOX.height / 2 + (back ? 9 : 0)
  const y2 = e.to.y + BOX.height / 2 + (back ? 9 : 0)
  const bend = (x2 - x1) / 2
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}
