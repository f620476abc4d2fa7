// The flame graph of a window of a program that runs. Its code comes with the first
// piece of recording, some ten seconds after the charts.
import type { JSX } from 'preact'
import type { LiveFlame } from '../api'
import { useData } from '../client'
import { Drawn } from '../flame/drawn'
import { Command } from '../parts/copy'
import { Empty, Failed, Loading } from '../parts/states'
import { t } from '../strings'
import { usePlace } from '../url'
import { wall } from './times'
import type { Window } from './view'

export function Graph(p: { pid: number; window: Window }): JSX.Element {
  const kind = usePlace().params.get('kind') ?? ''
  const { data, error } = useData<LiveFlame>('api/live/flame', { pid: p.pid, kind: kind || undefined, from: p.window.from, to: p.window.to })
  if (error) return <Failed error={error} />
  if (!data) return <Loading what={t('flame.loading')} />
  if (!data.tree) return <Empty text={data.why === '' ? t('live.flame.nowindow') : t('live.flame.denied') + ' ' + data.why}>{data.hint !== '' && <Command text={data.hint} />}</Empty>
  return (
    <>
      <p class="live-small">{t('live.flame.of', { from: wall(data.from_ms), to: wall(data.to_ms) })}</p>
      <Drawn data={data.tree} up empty={t('live.flame.nowindow')} />
    </>
  )
}
