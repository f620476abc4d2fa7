// What every goroutine stands at, at one moment: how many are in which state, who waits
// for which lock and who holds it, and the groups with their stacks.
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { StandingGroup, StandingHolder, StandingLock, Standings } from '../api'
import { isStatic, useData } from '../client'
import { FilterBox, Panel } from '../data/panel'
import { WaitGraph } from '../data/waitgraph'
import { lockName, partsOf, sure } from '../data/standings'
import { StateKey } from '../data/states'
import { stateLook, stateOf } from '../state'
import { short } from '../flame/text'
import { count, dur, share } from '../format'
import { Failed, Loading } from '../parts/states'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { setParams, usePlace } from '../url'
import '../data/data.css'
import './standing.css'

export function Standing(p: { r: number }): JSX.Element {
  const { params } = usePlace()
  const q = params.get('q') ?? ''
  const { data, error } = useData<Standings>('api/standing', isStatic || q === '' ? { r: p.r } : { r: p.r, q })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  return (
    <div class="data-screen standing">
      <div class="data-head">
        <h2>{t('data.st.title')}</h2>
        <p class="muted standing-when">{when(data)}</p>
      </div>
      <States data={data} />
      <Locks data={data} />
      <Groups data={data} q={q} />
    </div>
  )
}

function when(d: Standings): string {
  const parts = [t('data.st.total', { n: count(d.total) })]
  if (d.at_ns >= 0) parts.push(t('data.st.at', { at: dur(d.at_ns) }))
  if (d.watched_ns > 0) parts.push(t('data.st.watched', { time: dur(d.watched_ns) }))
  if (d.dead) parts.push(t('data.st.dead'))
  return parts.join(' · ')
}

// States are a bar and, under it, the same in words: each leads to its groups.
function States(p: { data: Standings }): JSX.Element {
  const { states, total } = p.data
  const parts = partsOf(states)
  let x = 0
  return (
    <Panel title={t('data.st.states')}>
      <svg class="state-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        {parts.map((s) => {
          const width = (100 * s.count) / Math.max(total, 1)
          const at = x
          x += width
          return <rect key={s.kind} x={at} y="0" width={width} height="10" fill={`var(${stateLook(s.kind).fill})`} />
        })}
      </svg>
      <ul class="standing-states">
        {states.map((s) => (
          <li key={s.state}>
            <StateKey state={stateOf(s.state)} />
            {isStatic
              ? <span>{s.state}</span>
              : <button type="button" class="quiet" onClick={() => setParams({ q: s.state })}>{s.state}</button>}
            {' '}<b>{count(s.count)}</b> <span class="muted">{share(s.count / Math.max(total, 1))}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Locks(p: { data: Standings }): JSX.Element | null {
  const { locks, left_locks: left } = p.data
  if (locks.length === 0) return null
  return (
    <Panel title={t('data.st.locks')} id="locks">
      <WaitGraph locks={locks} />
      <LockTable locks={locks} />
      {left > 0 && <p class="data-note">{t('data.st.leftlocks', { n: count(left) })}</p>}
    </Panel>
  )
}

// LockTable says what the picture shows, for who does not see it.
function LockTable(p: { locks: StandingLock[] }): JSX.Element {
  return (
    <div class="standing-scroll" tabIndex={0} role="region" aria-label={t('data.st.locks')}>
      <table class="standing-locks">
        <caption class="sr">{t('data.st.locks')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('data.st.lock')}</th><th scope="col" class="right">{t('data.st.waiting')}</th>
            <th scope="col" class="right">{t('data.st.longest')}</th><th scope="col">{t('data.st.holder')}</th><th scope="col">{t('data.st.does')}</th>
          </tr>
        </thead>
        <tbody>
          {p.locks.map((l) => (
            <tr key={l.id} class={l.cycle > 0 ? 'standing-cycle' : ''}>
              <th scope="row">
                <span class="standing-id">{l.id}</span> <code title={l.name}>{lockName(l)}</code>
                {l.cycle > 0 && <b class="standing-mark">{t(sure(l, p.locks) ? 'data.st.deadlock' : 'data.st.cycle', { n: l.cycle })}</b>}
                {l.address !== '' && <small class="muted mono">{l.address}</small>}
              </th>
              <td class="right">{count(l.waiting)}</td>
              <td class="right">{l.longest_ns > 0 ? dur(l.longest_ns) : '–'}</td>
              <td>{l.holders.length === 0 ? <span class="muted">{t('data.st.unseen')}</span> : <ul>{l.holders.map((h) => <li key={h.group}><Who h={h} /></li>)}</ul>}</td>
              <td><ul>{l.holders.map((h) => <li key={h.group}>{does(h)}</li>)}</ul></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Who(p: { h: StandingHolder }): JSX.Element {
  const { h } = p
  return (
    <>
      <code title={h.function}>{short(h.function)}</code>{h.count > 1 && ` ×${count(h.count)}`}
      {!h.sure && <span class="muted"> {t('data.st.probably')}</span>}
      {h.shared && <span class="muted"> {t('data.st.shared')}</span>}
      {h.taken !== '' && <small class="muted mono">{t('data.st.taken', { at: h.taken.slice(h.taken.lastIndexOf('/') + 1) })}</small>}
    </>
  )
}

function does(h: StandingHolder): string {
  const since = h.waited_ns > 0 ? ` ${dur(h.waited_ns)}` : ''
  return h.wants > 0 ? t('data.st.wants', { lock: h.wants }) + since : h.state + since
}

function Groups(p: { data: Standings; q: string }): JSX.Element {
  const { data } = p
  const [open, setOpen] = useState<number | undefined>(undefined)
  const locks = data.locks.length > 0
  const cols = useMemo((): Col<StandingGroup>[] => [
    { key: 'count', title: t('data.st.count'), align: 'right', sortable: true, width: '7.5rem', value: (g) => g.count, cell: (g) => count(g.count), text: (g) => String(g.count) },
    { key: 'state', title: t('data.st.state'), sortable: true, width: 'minmax(10rem, .7fr)', value: (g) => g.state, cell: (g) => <><StateKey state={stateOf(g.state)} /> {g.state}</>, text: (g) => g.state },
    { key: 'waited', title: t('data.st.longest'), align: 'right', sortable: true, width: '7.5rem', value: (g) => g.waited_ns, cell: (g) => (g.waited_ns > 0 ? dur(g.waited_ns) : '–'), text: (g) => String(g.waited_ns) },
    {
      key: 'function', title: t('data.st.where'), sortable: true, width: 'minmax(16rem, 2fr)', value: (g) => g.function, text: (g) => `${g.function} ${g.place}`,
      cell: (g) => (
        <button type="button" class="quiet standing-open" aria-expanded={open === g.id} onClick={() => setOpen(open === g.id ? undefined : g.id)} title={g.function}>
          <code>{short(g.function) || '–'}</code> <span class="muted mono">{g.place.slice(g.place.lastIndexOf('/') + 1)}</span>
        </button>
      ),
    },
    ...(locks ? [{ key: 'locks', title: t('data.st.lock'), width: 'minmax(11rem, .8fr)', cell: lockWords, text: lockWords }] : []),
    ...(data.groups.some((g) => g.labels.length > 0) ? [{ key: 'labels', title: t('data.st.labels'), width: 'minmax(10rem, 1fr)', cell: (g: StandingGroup) => <code title={g.labels.join('\n')}>{g.labels.join(', ')}</code>, text: (g: StandingGroup) => g.labels.join(', ') }] : []),
    { key: 'root', title: t('data.st.root'), sortable: true, width: 'minmax(10rem, 1fr)', value: (g) => g.root, cell: (g) => <code title={g.root}>{short(g.root)}</code>, text: (g) => g.root },
  ], [open, data])
  const chosen = data.groups.find((g) => g.id === open)
  return (
    <>
      <div class="data-head">
        <FilterBox value={p.q} onValue={(v) => setParams({ q: v || null })} placeholder={t('data.st.filter')} />
      </div>
      {chosen && <Stack g={chosen} close={() => setOpen(undefined)} />}
      <Table caption={t('data.st.groups')} cols={cols} rows={data.groups} sort="count" desc height={Math.max(320, window.innerHeight - 240)} empty={t('data.st.none')} />
      {data.left > 0 && <p class="data-note">{t('data.st.left', { n: count(data.left) })}</p>}
    </>
  )
}

function lockWords(g: StandingGroup): string {
  const parts: string[] = []
  if (g.wants > 0) parts.push(t('data.st.wants', { lock: g.wants }))
  if (g.holds.length > 0) parts.push(t('data.st.holds', { locks: g.holds.join(', ') }))
  return parts.join('; ')
}

function Stack(p: { g: StandingGroup; close(): void }): JSX.Element {
  const { g } = p
  return (
    <section class="card data-panel standing-stack" aria-live="polite">
      <h4>{t('data.st.stack', { n: count(g.count), state: g.state })}{g.goroutine > 0 && <small class="muted"> {t('data.st.number', { n: String(g.goroutine) })}</small>}
        <button type="button" class="quiet" onClick={p.close} aria-label={t('core.close')} title={t('core.close')}>×</button></h4>
      {g.labels.length > 0 && <p class="muted mono">{g.labels.join(' · ')}</p>}
      <pre tabIndex={0} aria-label={tn('data.st.where')}>{g.stack.join('\n')}</pre>
    </section>
  )
}
