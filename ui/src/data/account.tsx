// The account of memory as a table: the rows of gowhy memory, of a recording or of a program
// that runs.
import type { JSX } from 'preact'
import type { MemoryRow } from '../api'
import { bytes, cell, dur, num, share } from '../format'
import { Bar } from '../parts/bar'
import { Said } from '../parts/said'
import { t, tn } from '../strings'
import { groupsOf } from './memory'
import { Panel } from './panel'
import './account.css'

export function Account(p: { title: string; rows: MemoryRow[] }): JSX.Element {
  return (
    <Panel title={p.title}>
      <div class="memory-scroll" tabIndex={0} role="region" aria-label={p.title}>
        <table class="memory-account">
          <caption class="sr">{p.title}</caption>
          <thead>
            <tr>
              <th scope="col">{t('data.mem.what')}</th><th scope="col" class="right">{t('data.mem.amount')}</th><th scope="col" class="right">{t('data.mem.share')}</th>
              <th scope="col" class="memory-bar" /><th scope="col" class="memory-wide">{t('data.mem.from')}</th>
            </tr>
          </thead>
          {groupsOf(p.rows).map((g) => (
            <tbody key={g.of}>
              <tr class="memory-group"><th scope="rowgroup" colSpan={5}>{tn('data.mem.of.' + g.of, g.of)}</th></tr>
              {g.rows.map((r) => <Row key={r.name + r.unit} r={r} />)}
            </tbody>
          ))}
        </table>
      </div>
    </Panel>
  )
}

function Row(p: { r: MemoryRow }): JSX.Element {
  const { r } = p
  const more = remarks(r).join(' · ')
  return (
    <tr class={r.of === 'all' ? 'memory-sum' : r.value === 0 ? 'memory-none' : ''}>
      <th scope="row"><Said text={r.name} />{more !== '' && <small class="memory-narrow muted">{more}</small>}</th>
      <td class="right">{amount(r)}</td>
      <td class="right">{r.share !== null && share(r.share)}</td>
      <td class="memory-bar">{r.share !== null && r.share > 0 && <Bar share={r.share} />}</td>
      <td class="memory-wide muted">{more}</td>
    </tr>
  )
}

function amount(r: MemoryRow): string {
  if (r.value === null) return t('data.mem.untold')
  return r.unit === 'bytes' ? cell(r.value, 'bytes') : num(r.value, r.unit)
}

function rate(v: number): string {
  return (v > 0 ? '+' : '') + num(v, 'bytes per second')
}

// remarks are what says so, how it grows, and what a limit leaves.
function remarks(r: MemoryRow): string[] {
  const list = r.from === '' ? [] : [r.from]
  if (r.growth !== null) list.push(rate(r.growth))
  if (r.headroom !== null) list.push(t('data.mem.left', { v: bytes(r.headroom) }))
  if (r.reached_seconds !== null) list.push(t('data.mem.reached', { time: dur(r.reached_seconds * 1e9) }))
  return list
}
