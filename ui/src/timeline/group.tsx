// A group of goroutines at one moment: who of them runs, who waits and where, and who
// ended the next of these waits, which for a lock is who held it.
import type { JSX } from 'preact'
import type { Edge, Edges, Frame, Hits, Selection, StackTotal } from '../api'
import { isStatic } from '../client'
import { at as moment, count, dur } from '../format'
import { StateKey } from '../data/states'
import { stateName } from '../state'
import { t } from '../strings'
import { href } from '../url'
import { useAsked } from './ask'
import type { Spot } from './follow'
import { brief, laneOfGoroutine } from './lanes'
import { placeOf, sourceOf, tail } from './stack'

interface Props {
  r: number
  lane: string
  group: string
  at: number
  duration: number
  to(s: Spot): void
}

/** How far around the moment goroutines are looked at, and how far ahead the end of a wait. */
const AROUND_NS = 1e6
const AHEAD_NS = 2e7
const MOST = 4

export function GroupMoment(p: Props): JSX.Element | null {
  const from = Math.max(0, Math.round(p.at - AROUND_NS))
  const to = Math.min(p.duration, Math.round(p.at + AROUND_NS))
  const path = (name: string): string | null => (isStatic ? null : 'api/timeline/' + name)
  const selection = useAsked<Selection>(path('select'), { r: p.r, from, to, lanes: p.lane })
  const running = useAsked<Hits>(path('search'), { r: p.r, q: `func:${JSON.stringify(p.group)} state:running`, from, to, limit: 50 })
  const edges = useAsked<Edges>(path('edges'), { r: p.r, from: Math.round(p.at), to: Math.min(p.duration, Math.round(p.at + AHEAD_NS)), lanes: p.lane })
  if (isStatic) return null
  const waits = waitsOf(selection.data?.stacks ?? [])
  const end = endOf(edges.data?.edges ?? [], p.group)
  const all = (running.data?.hits ?? []).filter((h) => h.lane.startsWith('go:'))
  const runs = nearest(all, p.at).slice(0, MOST)
  return (
    <div class="tl-group" aria-busy={selection.loading || running.loading || edges.loading}>
      <dl class="tl-dl">
        <div>
          <dt>{t('timeline.group.runs')}</dt>
          <dd>
            {runs.length === 0 && <span class="muted">{t('timeline.group.norun')}</span>}
            {runs.map((h) => (
              <span key={h.lane + h.from_ns}><button type="button" class="tl-go" onClick={() => p.to({ lane: h.lane, at: h.from_ns })}>{h.lane.slice(3)}</button>{' '}<span class="muted">{h.from_ns <= p.at && p.at < h.to_ns ? t('timeline.group.now') : signed(h.from_ns - p.at)}</span>{'  '}</span>
            ))}
            {(running.data?.total ?? 0) > runs.length && <span class="muted">{t('timeline.group.more', { n: count(running.data!.total - runs.length) })}</span>}
          </dd>
        </div>
        {end && (
          <div>
            <dt>{t(unlocks(end) ? 'timeline.group.holds' : 'timeline.group.wakes')}</dt>
            <dd>
              {end.waker < 0
                ? t('timeline.moment.runtime')
                : <button type="button" class="tl-go" onClick={() => p.to({ lane: laneOfGoroutine(end.waker), at: Math.max(0, end.at_ns - 1) })}>{brief(end.waker_group) || '?'} {end.waker}</button>}
              {' '}<Where frames={end.stack} />{' '}
              <span class="muted">{t('timeline.group.until', { at: moment(end.at_ns), waited: dur(end.waited_ns) })}</span>
            </dd>
          </div>
        )}
        {waits.length > 0 && (
          <div>
            <dt>{t('timeline.group.waits')}</dt>
            <dd>
              <ul class="tl-group-waits">
                {waits.slice(0, MOST).map((w, i) => (
                  <li key={i}><StateKey state={w.state} /> {stateName(w.state)} <Where frames={w.stack} /></li>
                ))}
              </ul>
              {waits.length > MOST && <span class="muted">{t('timeline.group.more', { n: count(waits.length - MOST) })}</span>}
            </dd>
          </div>
        )}
      </dl>
      <p class="tl-buttons">
        <a href={href('goroutines?group=' + encodeURIComponent(p.group))}>{t('timeline.group.all')}</a>
        <a href={href(`flame?kind=states&from=${from}&to=${to}&group=${encodeURIComponent(p.group)}`)}>{t('timeline.selection.flame')}</a>
      </p>
    </div>
  )
}

function Where(p: { frames: Frame[] | null }): JSX.Element | null {
  const f = placeOf(p.frames)
  if (!f) return null
  return <span class="mono">{brief(f.func)}{f.file !== '' && <>{' '}<a href={sourceOf(f)}>{tail(f.file)}:{f.line}</a></>}</span>
}

const signed = (ns: number): string => (ns < 0 ? '−' : '+') + dur(Math.abs(ns))

/** What was found, the nearest to a moment first. */
export function nearest<H extends { from_ns: number; to_ns: number }>(list: readonly H[], at: number): H[] {
  const far = (h: H): number => Math.max(0, h.from_ns - at, at - h.to_ns)
  return [...list].sort((a, b) => far(a) - far(b) || a.from_ns - b.from_ns)
}

/** Waits of less than a twentieth of the largest are none that matters at the moment. */
const FEW = 0.05

/** What goroutines wait for, the most first; who runs is no wait. */
export function waitsOf(stacks: readonly StackTotal[]): StackTotal[] {
  const list = stacks.filter((s) => ['sync', 'net', 'wait', 'syscall', 'runnable'].includes(s.state)).sort((a, b) => b.ns - a.ns)
  return list.filter((s) => s.ns >= FEW * list[0]!.ns)
}

/** The wake-up that ended the next wait of one of a group. */
export function endOf(edges: readonly Edge[], group: string): Edge | undefined {
  return edges.filter((e) => e.woken_group === group).sort((a, b) => a.at_ns - b.at_ns)[0]
}

/** Whether a wake-up came of giving a lock back: then the waker held it. */
export function unlocks(e: Pick<Edge, 'stack'>): boolean {
  return (e.stack ?? []).some((f) => /^sync\.\(\*(RW)?Mutex\)\.(R?Unlock|unlockSlow)/.test(f.func))
}
