// A finding about a lock or a channel, in the window: who has it, who waits for it, and the
// ways to them.
import type { JSX } from 'preact'
import type { Holds, Insight, Party } from '../api'
import { Failed, Loading } from '../parts/states'
import { Said } from '../parts/said'
import { count, dur } from '../format'
import { t, tn } from '../strings'
import { href } from '../url'
import type { Asked } from './ask'
import type { Spot } from './follow'
import { brief, laneOfGoroutine } from './lanes'
import { placeOf, sourceOf, tail } from './stack'

export function HoldsOf(p: { of: Insight; asked: Asked<Holds>; to(s: Spot): void }): JSX.Element {
  const { data, error, loading } = p.asked
  return (
    <div class={'tl-holds' + (loading && data ? ' tl-faint' : '')} aria-busy={loading}>
      <h2><Said text={p.of.title} /> <a href={href(`findings?f=${p.of.finding}`)}>{t('core.marked.finding', { n: p.of.finding })}</a></h2>
      {error ? <Failed error={error} /> : !data ? <Loading /> : (
        <>
          {data.partial !== '' && <p class="muted">{data.partial}</p>}
          <div class="tl-holds-both">
            <Parties title={tn('timeline.holds.' + p.of.queue)} list={data.holders} to={p.to} />
            <Parties title={t('timeline.holds.waiters')} list={data.waiters} to={p.to} />
          </div>
          <p class="muted">{t('timeline.holds.note')}</p>
        </>
      )}
    </div>
  )
}

function Parties(p: { title: string; list: Party[]; to(s: Spot): void }): JSX.Element {
  return (
    <section>
      <h3>{p.title}</h3>
      {p.list.length === 0 && <p class="muted">{t('timeline.holds.none')}</p>}
      <ul class="tl-group-waits">{p.list.map((one, i) => <li key={i}><One of={one} to={p.to} /></li>)}</ul>
    </section>
  )
}

function One(p: { of: Party; to(s: Spot): void }): JSX.Element {
  const { group, stack, ns, count: n, longest } = p.of
  const f = placeOf(stack)
  const middle = Math.round((longest.from_ns + longest.to_ns) / 2)
  return (
    <>
      <a href={href('goroutines?group=' + encodeURIComponent(group))} title={group}>{brief(group) || '?'}</a>{' '}
      {f && <span class="mono">{brief(f.func)}{f.file !== '' && <>{' '}<a href={sourceOf(f)}>{tail(f.file)}:{f.line}</a></>}</span>}{' '}
      <span class="muted">{t('timeline.holds.count', { n: count(n), all: dur(ns), most: dur(longest.to_ns - longest.from_ns) })}</span>{' '}
      <button type="button" class="tl-go" onClick={() => p.to({ lane: laneOfGoroutine(longest.goroutine), at: middle })}>{longest.goroutine}</button>
    </>
  )
}
