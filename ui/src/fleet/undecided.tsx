// Deploys of which nothing is claimed: those without a detectable change, and
// those that are not decided, with the reason.
import type { JSX } from 'preact'
import { Table, type Col } from '../parts/table'
import { t } from '../strings'
import type { Change } from './api'
import { flameOf } from './change'
import { momentText } from './time'
import { costText, timesText } from './words'

export function Undecided(p: { changes: readonly Change[] }): JSX.Element | null {
  const same = p.changes.filter((c) => c.verdict === 'no change seen'), open = p.changes.filter((c) => c.verdict === 'undecided')
  const why: Col<Change> = { key: 'why', title: t('fleet.versions.col.why'), width: 'minmax(14rem, 2fr)', cell: (c) => c.why ?? '' }
  const times: Col<Change> = { key: 'times', title: t('fleet.versions.col.times'), sortable: true, width: 'minmax(13rem, 1fr)', value: (c) => c.ratio, cell: (c) => (c.ratio === undefined ? '–' : timesText(c)) }
  return (
    <>
      {open.length > 0 && <Table caption={t('fleet.versions.undecided')} cols={[...columns(), why]} rows={open} rowHref={flameOf} height={420} />}
      {same.length > 0 && <Table caption={t('fleet.versions.same')} cols={[...columns(), times]} rows={same} rowHref={flameOf} height={420} />}
    </>
  )
}

function columns(): Col<Change>[] {
  return [
    { key: 'service', title: t('fleet.col.service'), sortable: true, width: 'minmax(8rem, 1fr)', value: (c) => c.service, cell: (c) => c.service },
    { key: 'deploy', title: t('fleet.versions.col.deploy'), width: 'minmax(9rem, 1fr)', cell: (c) => `${c.base} → ${c.head}` },
    { key: 'since', title: t('fleet.change.since'), sortable: true, width: '9rem', value: (c) => c.since, cell: (c) => momentText(Date.parse(c.since)) },
    { key: 'is', title: t('fleet.change.cost'), align: 'right', width: 'minmax(10rem, 1fr)', cell: (c) => costText(c.is, c.unit) },
    { key: 'processes', title: t('fleet.versions.col.processes'), align: 'right', width: '6.5rem', cell: (c) => `${c.base_processes} / ${c.head_processes}` },
  ]
}
