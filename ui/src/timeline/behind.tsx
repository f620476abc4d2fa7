// The table behind the picture: the lanes in sight and what each did in the
// window, summed from the same tiles that are drawn.
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { at as moment, count, share } from '../format'
import { Table, type Col } from '../parts/table'
import { t } from '../strings'
import { hasTiles, sums } from './draw'
import { nameOf } from './labels'
import { isSingle } from './lanes'
import type { Stage } from './stage'

interface LaneSums {
  name: string
  single: boolean
  values: number[] | undefined
}

export function Behind(p: { stage: Stage; states: string[] }): JSX.Element {
  // The picture moves without components: the table looks again when it rests.
  const [, again] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => again((n) => n + 1), 500)
    return () => clearInterval(timer)
  }, [])
  const scene = p.stage.scene()
  const rows: LaneSums[] = p.stage.inSight()
    .filter((r) => hasTiles(r.lane))
    .map((r) => ({ name: nameOf(r), single: isSingle(r.lane!.kind), values: sums(scene, r.lane!) }))
  const cols: Col<LaneSums>[] = [
    { key: 'lane', title: t('timeline.col.lane'), cell: (r) => <span title={r.name}>{r.name}</span>, text: (r) => r.name, value: (r) => r.name, sortable: true, width: 'minmax(10rem, 2fr)' },
    ...p.states.map((s, i): Col<LaneSums> => ({
      key: s, title: s, align: 'right', sortable: true, width: '6.5rem',
      value: (r) => r.values?.[i] ?? null,
      cell: (r) => (r.values === undefined ? '…' : r.values[i] === 0 ? '–' : r.single ? share(Math.min(1, r.values[i]!)) : count(r.values[i]!)),
      text: (r) => String(r.values?.[i] ?? ''),
    })),
  ]
  return (
    <>
      <p class="muted">{rows.some((r) => r.values === undefined) ? t('timeline.behind.waiting') : t('timeline.behind.note')}</p>
      <Table caption={t('timeline.behind', { from: moment(scene.window.from), to: moment(scene.window.to) })} cols={cols} rows={rows} height={420} />
    </>
  )
}
