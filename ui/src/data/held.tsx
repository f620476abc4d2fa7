// Who holds the heap: holders with the way to the most of what each holds, as an icicle and as
// a table, and what the heap is made of.
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Held, HeldType, Holder, MadeSum } from '../api'
import { Drawn } from '../flame/drawn'
import { bytes, cell, count, dur, share } from '../format'
import { Name } from '../parts/name'
import { Said } from '../parts/said'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { setParams, usePlace } from '../url'
import { keyOf, leastUse } from './memory'
import { Panel } from './panel'
import './account.css'

export function HeldBy(p: { held: Held }): JSX.Element {
  const { held } = p
  const { params } = usePlace()
  const open = params.get('held')
  const chosen = held.holders.find((h) => keyOf(h) === open)
  const choose = (h: Holder) => setParams(keyOf(h) === open ? { held: null, focus: null, x: null } : { held: keyOf(h), focus: h.in_tree, x: null })
  const grown = held.over_ns > 0
  const cols = useMemo(() => holderCols(held, open, choose), [held, open])
  return (
    <Panel title={t('data.mem.held')} id="held">
      <p class="data-note">{said(held)}</p>
      {held.tree && <Drawn data={held.tree} up={false} empty={t('data.mem.held.none')} />}
      <Table caption={t('data.mem.holders')} cols={cols} rows={held.holders} sort={grown ? 'grew' : 'bytes'} desc height={400} empty={t('data.mem.held.none')} />
      {chosen && <Way h={chosen} close={() => choose(chosen)} />}
      {held.types.length > 0 && <Table caption={t('data.mem.types')} cols={typeCols(grown)} rows={held.types} sort="bytes" desc height={330} />}
      {held.untyped > 0 && <p class="data-note">{t('data.mem.untyped', { v: bytes(held.untyped) })}</p>}
      {held.garbage.length > 0 && <Table caption={t('data.mem.garbage')} cols={garbageCols()} rows={held.garbage} sort="bytes" desc height={220} />}
      <ul class="data-list memory-basis">{held.notes.map((n) => <li key={n}><Said text={n} /></li>)}</ul>
    </Panel>
  )
}

function said(h: Held): string {
  const parts = [t('data.mem.held.sum', { v: bytes(h.reached), n: count(h.objects) })]
  if (h.at_ns >= 0) parts.push(t('data.st.at', { at: dur(h.at_ns) }))
  if (h.over_ns > 0) parts.push(t('data.mem.held.over', { time: dur(h.over_ns) }))
  if (h.partial) parts.push(t('data.mem.held.partial'))
  return parts.join(' · ')
}

/** By how much something grew, with its sign; where nothing tells, nothing. */
function grew(by: number | null): string {
  if (by === null) return '–'
  return (by > 0 ? '+' : '') + cell(by, 'bytes')
}

function numbers<R extends { bytes: number; objects: number; grew: number | null }>(grown: boolean): Col<R>[] {
  return [
    { key: 'bytes', title: t('data.mem.bytes'), align: 'right', sortable: true, width: '7rem', value: (r) => r.bytes, cell: (r) => cell(r.bytes, 'bytes'), text: (r) => String(r.bytes) },
    ...(grown ? [{ key: 'grew', title: t('data.mem.grew'), align: 'right' as const, sortable: true, width: '7rem', value: (r: R) => r.grew, cell: (r: R) => grew(r.grew), text: (r: R) => String(r.grew ?? '') }] : []),
    { key: 'objects', title: t('data.mem.objects'), align: 'right', sortable: true, width: '6.5rem', value: (r) => r.objects, cell: (r) => count(r.objects), text: (r) => String(r.objects) },
  ]
}

function holderCols(held: Held, open: string | null, choose: (h: Holder) => void): Col<Holder>[] {
  const columns = numbers<Holder>(held.over_ns > 0)
  const objects = columns.pop()!
  return [
    {
      key: 'name', title: t('data.mem.holder'), sortable: true, width: 'minmax(9.5rem, 3fr)', value: (h) => h.name, text: (h) => h.name,
      cell: (h) => <button type="button" class="quiet memory-open" aria-expanded={keyOf(h) === open} onClick={() => choose(h)}><Name text={h.name} /></button>,
    },
    ...columns,
    { key: 'share', title: t('data.mem.share'), align: 'right', sortable: true, width: '6.2rem', value: (h) => h.bytes, cell: (h) => share(h.bytes / Math.max(held.reached, 1)) },
    { key: 'shared', title: t('data.mem.shared'), help: t('data.mem.shared.help'), align: 'right', sortable: true, width: '7rem', value: (h) => h.shared, cell: (h) => cell(h.shared, 'bytes'), text: (h) => String(h.shared) },
    objects,
    { key: 'use', title: t('data.mem.use'), help: t('data.mem.use.help'), align: 'right', sortable: true, width: '5.5rem', value: leastUse, cell: (h) => used(leastUse(h)), text: (h) => String(leastUse(h) ?? '') },
    { key: 'kind', title: t('data.mem.kind'), sortable: true, width: 'minmax(7.5rem, .6fr)', value: (h) => h.kind, cell: (h) => tn('data.mem.kind.' + h.kind, h.kind) + (h.count > 1 ? ' ×' + count(h.count) : '') },
  ]
}

function used(use: number | null): string {
  return use === null ? '–' : share(use)
}

function typeCols(grown: boolean): Col<HeldType>[] {
  return [
    { key: 'name', title: t('data.mem.type'), sortable: true, width: 'minmax(9.5rem, 3fr)', value: (r) => r.name, text: (r) => r.name, cell: (r) => <code><Name text={r.name} /></code> },
    ...numbers<HeldType>(grown),
    {
      key: 'holder', title: t('data.mem.mostly'), sortable: true, width: 'minmax(9.5rem, 2fr)', value: (r) => r.holder, text: (r) => r.holder,
      cell: (r) => (r.holder === '' ? '–' : <><Name text={r.holder} /> <span class="muted">{share(r.holder_bytes / Math.max(r.bytes, 1))}</span></>),
    },
  ]
}

function garbageCols(): Col<MadeSum>[] {
  return [
    { key: 'place', title: t('data.mem.allocated'), sortable: true, width: 'minmax(9.5rem, 3fr)', value: (r) => r.place, text: (r) => r.place, cell: (r) => <code><Name text={r.place} /></code> },
    { key: 'bytes', title: t('data.mem.about'), align: 'right', sortable: true, width: '7rem', value: (r) => r.bytes, cell: (r) => cell(r.bytes, 'bytes'), text: (r) => String(r.bytes) },
    { key: 'share', title: t('data.mem.share'), align: 'right', sortable: true, width: '6.2rem', value: (r) => r.share, cell: (r) => share(r.share) },
    { key: 'samples', title: t('data.mem.samples'), help: t('data.mem.samples.help'), align: 'right', sortable: true, width: '6.5rem', value: (r) => r.samples, cell: (r) => count(r.samples) },
  ]
}

// Way is what stands between a holder and the most of what it holds.
function Way(p: { h: Holder; close(): void }): JSX.Element {
  const { h } = p
  const again = h.way.some((s) => s.again !== null && s.again > 0)
  return (
    <section class="card data-panel memory-way" aria-live="polite">
      <h4>{t('data.mem.way', { name: h.name })}
        <button type="button" class="quiet" onClick={p.close} aria-label={t('core.close')} title={t('core.close')}>×</button></h4>
      <div class="memory-scroll" tabIndex={0} role="region" aria-label={t('data.mem.way', { name: h.name })}>
        <table class="memory-account">
          <thead>
            <tr>
              <th scope="col">{t('data.mem.what')}</th><th scope="col" class="right">{t('data.mem.bytes')}</th>
              <th scope="col" class="right">{t('data.mem.objects')}</th><th scope="col" class="right" title={t('data.mem.use.help')}>{t('data.mem.use')}</th>
              {again && <th scope="col" class="right" title={t('data.mem.again.help')}>{t('data.mem.again')}</th>}
            </tr>
          </thead>
          <tbody>
            {h.way.map((s, i) => (
              <tr key={i}>
                <th scope="row"><code>{i > 0 && '→ '}{s.name}</code></th>
                <td class="right">{cell(s.retained, 'bytes')}</td><td class="right">{count(s.objects)}</td><td class="right">{used(s.use)}</td>
                {again && <td class="right">{used(s.again)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
