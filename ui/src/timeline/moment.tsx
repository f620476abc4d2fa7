// One stretch of one lane: what it was, where, who ended it, and the ways on.
import type { JSX } from 'preact'
import type { Edge, Moment as ApiMoment } from '../api'
import { isStatic } from '../client'
import { at as moment, dur } from '../format'
import { stateName } from '../state'
import { t } from '../strings'
import { href } from '../url'
import { known, type Spot } from './follow'
import { brief, isSingle, laneOfGoroutine } from './lanes'
import { Swatch } from './legend'
import { Stack } from './stack'
import type { Theme } from './draw'

export interface MomentProps {
  moment: ApiMoment
  lane: string
  kind: string
  states: string[]
  theme: Theme | undefined
  trail: Spot[]
  nameOf(lane: string): string
  neighbour(way: -1 | 1): void
  back(): void
  forward(): void
  to(s: Spot): void
  fit(): void
}

/** Moment is a stretch of a lane of the trace; those of the kernel's samples are Sampled. */
export function Moment(p: MomentProps): JSX.Element {
  const { span } = p.moment
  // Many together are in no one state; the sentence counts them.
  if (!isSingle(p.kind)) return <p>{p.moment.text || t('timeline.moment.nothing')} <span class="muted">{moment(span.from_ns)}</span></p>
  if (!known(span)) return <p class="muted">{p.moment.text || t('timeline.moment.nothing')}</p>
  return (
    <div class="tl-moment">
      <div class="tl-facts">
        {p.moment.text !== '' && <p>{p.moment.text}</p>}
        <Buttons {...p} />
        <Facts {...p} />
        <Trail {...p} />
      </div>
      <div>
        {p.moment.woken && <Wake title={t('timeline.moment.woken')} edge={p.moment.woken} to={p.to} />}
        {p.moment.waker && <Wake title={t('timeline.moment.waker')} edge={p.moment.waker} to={p.to} />}
        <h2>{t('timeline.moment.stack')}</h2>
        <Stack frames={p.moment.stack} />
      </div>
    </div>
  )
}

function Buttons(p: MomentProps): JSX.Element | null {
  const { span } = p.moment
  const own = laneOfGoroutine(span.goroutine)
  const chain = span.goroutine > 0
  return (
    <div class="tl-buttons">
      {!isStatic && <button type="button" onClick={() => p.neighbour(-1)}><kbd>,</kbd> {t('timeline.moment.previous')}</button>}
      {!isStatic && <button type="button" onClick={() => p.neighbour(1)}><kbd>.</kbd> {t('timeline.moment.next')}</button>}
      {!isStatic && chain && <button type="button" onClick={p.back}><kbd>[</kbd> {t('timeline.moment.back')}</button>}
      {!isStatic && chain && <button type="button" onClick={p.forward}><kbd>]</kbd> {t('timeline.moment.forward')}</button>}
      <button type="button" onClick={p.fit}><kbd>F</kbd> {t('timeline.moment.zoom')}</button>
      {chain && !p.lane.startsWith('go:') && (
        <button type="button" onClick={() => p.to({ lane: own, at: span.from_ns })}>{t('timeline.moment.gogoroutine')}</button>
      )}
    </div>
  )
}

function Facts(p: MomentProps): JSX.Element {
  const { span } = p.moment
  const state = p.states[span.state] ?? ''
  const facts: [string, JSX.Element | string][] = []
  if (state) {
    facts.push([t('timeline.moment.state'), <><Swatch state={span.state} theme={p.theme} /> {stateName(state)}</>])
  }
  if (span.reason) facts.push([t('timeline.moment.reason'), span.reason])
  facts.push([t('timeline.moment.duration'), dur(span.to_ns - span.from_ns)])
  facts.push([t('timeline.moment.when'), `${moment(span.from_ns)} – ${moment(span.to_ns)}`])
  if (span.goroutine > 0) facts.push([t('timeline.moment.goroutine'), String(span.goroutine)])
  if (span.group) {
    facts.push([t('timeline.moment.group'), <a href={href('goroutines?group=' + encodeURIComponent(span.group))} title={span.group}>{brief(span.group)}</a>])
  }
  if (span.proc >= 0) facts.push([t('timeline.moment.proc'), String(span.proc)])
  if (span.thread > 0) facts.push([t('timeline.moment.thread'), String(span.thread)])
  return (
    <dl class="tl-dl">
      {facts.map(([name, value], i) => <div key={i}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  )
}

function Wake(p: { title: string; edge: Edge; to(s: Spot): void }): JSX.Element {
  const { edge } = p
  const who = edge.waker < 0 ? t('timeline.moment.runtime') : `${brief(edge.waker_group) || '?'} ${edge.waker}`
  return (
    <section class="tl-wake">
      <h2>{p.title}</h2>
      <p>
        {t('timeline.moment.by', { waker: who, at: moment(edge.at_ns), waited: dur(edge.waited_ns), ready: dur(edge.ready_ns) })}
        {edge.waker >= 0 && (
          <> <button type="button" onClick={() => p.to({ lane: laneOfGoroutine(edge.waker), at: Math.max(0, edge.at_ns - 1) })}>{t('timeline.moment.gowaker')}</button></>
        )}
      </p>
      {(edge.stack?.length ?? 0) > 0 && <Stack frames={edge.stack} />}
    </section>
  )
}

function Trail(p: MomentProps): JSX.Element | null {
  if (p.trail.length < 2) return null
  return (
    <nav class="tl-trail" aria-label={t('timeline.moment.trail')}>
      {p.trail.map((s, i) => (
        <button key={i} type="button" class="quiet" aria-current={i === p.trail.length - 1 ? 'step' : undefined} onClick={() => p.to(s)}>
          {p.nameOf(s.lane)} <span class="muted">{moment(s.at, 1000)}</span>
        </button>
      ))}
    </nav>
  )
}
