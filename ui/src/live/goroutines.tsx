// The goroutines as they are, by the function that started them and their state.
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { LiveGoroutine } from '../api'
import { FilterBox } from '../data/panel'
import { StateKey } from '../data/states'
import { short } from '../flame/text'
import { count, dur } from '../format'
import { Hint } from '../parts/states'
import { Name } from '../parts/name'
import { Table, type Col } from '../parts/table'
import { stateName, stateOf } from '../state'
import { t } from '../strings'
import { setParams, usePlace } from '../url'
import type { Feed } from './feed'
import { wall } from './times'

export function Goroutines(p: { news: Feed['news']; stopped: boolean }): JSX.Element {
  const filter = usePlace().params.get('g') ?? ''
  const { goroutines, unread, unread_hint: hint } = p.news
  const rows = useMemo(() => goroutines.filter((g) => matches(g, filter)), [goroutines, filter])
  const title = p.stopped ? t('live.go.at', { when: wall(p.news.at_ms) }) : t('live.go')
  return (
    <section class="live-go" aria-labelledby="live-go">
      <div class="data-head">
        <h2 id="live-go">{title}</h2>
        {unread === '' && <FilterBox value={filter} onValue={(g) => setParams({ g: g || null }, { replace: true })} placeholder={t('live.go.filter')} />}
      </div>
      {unread !== ''
        ? <div class="card live-unread"><p><span class="mark mark-warn" aria-hidden="true">!</span> {unread}</p>{hint !== '' && <Hint text={hint} />}</div>
        : <Table caption={title} cols={columns()} rows={rows} sort="count" desc height={420} empty={filter === '' ? t('data.table.empty') : t('live.go.none')} />}
    </section>
  )
}

/** Whether each word of a filter is in one of the names. */
export function matches(g: LiveGoroutine, filter: string): boolean {
  const text = [g.function, g.state, stateName(stateWord(g)), g.reason, g.where, g.creator, ...g.labels].join('\n').toLowerCase()
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

const stateWord = (g: LiveGoroutine): string => stateOf(g.state, g.reason)

function columns(): Col<LiveGoroutine>[] {
  const growth = (g: LiveGoroutine) => (Math.abs(g.growth) < 0.05 ? '' : (g.growth > 0 ? '+' : '−') + count(Math.abs(g.growth)))
  return [
    { key: 'function', title: t('live.go.function'), width: 'minmax(13rem, 2fr)', sortable: true, value: (g) => g.function, cell: (g) => <code title={g.labels.join('\n') || undefined}><Name text={short(g.function)} />{g.labels.length > 0 && <small class="muted"> {g.labels[0]}{g.labels.length > 1 && ' …'}</small>}</code>, text: (g) => g.function },
    { key: 'state', title: t('live.go.state'), width: '8.5rem', sortable: true, value: stateWord, cell: (g) => <><StateKey state={stateWord(g)} /> {stateName(stateWord(g))}</>, text: (g) => stateName(stateWord(g)) },
    { key: 'reason', title: t('live.go.reason'), width: 'minmax(10rem, 1.2fr)', sortable: true, value: (g) => g.reason, cell: (g) => g.reason },
    { key: 'count', title: t('live.go.count'), align: 'right', width: '6rem', sortable: true, value: (g) => g.count, cell: (g) => count(g.count), text: (g) => String(g.count) },
    { key: 'growth', title: t('live.go.growth'), help: t('live.go.growth.help'), align: 'right', width: '7.5rem', sortable: true, value: (g) => g.growth, cell: growth, text: (g) => String(g.growth) },
    { key: 'oldest', title: t('live.go.oldest'), help: t('live.go.oldest.help'), align: 'right', width: '6.5rem', sortable: true, value: (g) => g.oldest_ms, cell: (g) => (g.oldest_ms < 0 ? '' : dur(g.oldest_ms * 1e6)), text: (g) => String(g.oldest_ms) },
    { key: 'where', title: t('live.go.where'), help: t('live.go.where.help'), width: 'minmax(10rem, 1.5fr)', sortable: true, value: (g) => g.where, cell: (g) => <code><Name text={short(g.where)} /></code>, text: (g) => g.where },
    { key: 'creator', title: t('live.go.creator'), width: 'minmax(10rem, 1.5fr)', sortable: true, value: (g) => g.creator, cell: (g) => <code><Name text={short(g.creator)} /></code>, text: (g) => g.creator },
  ]
}
