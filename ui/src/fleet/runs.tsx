// Whole recordings that the fleet keeps, each with the first cause that was found in it.
import type { JSX } from 'preact'
import { plain } from '../flame/text'
import { bytes, count, dur } from '../format'
import { Command } from '../parts/copy'
import { Said } from '../parts/said'
import { Empty, Failed, Loading } from '../parts/states'
import { t } from '../strings'
import { href, usePlace } from '../url'
import type { Recording, RunsAnswer } from './api'
import { useAnswer } from './ask'
import { Cards, Filter, Rows } from './parts'
import { askAgain, momentText } from './time'
import { killedText } from './killed'
import { firstCause, SHORT } from './words'

export function Runs(): JSX.Element {
  const q = usePlace().params.get('q') ?? ''
  const { data, error } = useAnswer<RunsAnswer>('runs', { limit: 1000 })
  if (error) return <Failed error={error} retry={askAgain} />
  if (!data) return <Loading />
  if (data.runs.length === 0) return <None />
  const shown = data.runs.filter((r) => matches(r, q))
  return (
    <div class="data-screen">
      <div class="data-head"><Filter hint={t('fleet.runs.filter')} q={q} /></div>
      {shown.length === 0
        ? <Empty text={t('fleet.runs.nomatch')} />
        : <><h2 class="sr">{t('fleet.runs.list')}</h2><Cards>{shown.map((r) => <RunCard key={r.id} of={r} />)}</Cards></>}
      {data.omitted > 0 && <p class="data-note">{t('fleet.omitted', { n: count(data.omitted) })}</p>}
    </div>
  )
}

function None(): JSX.Element {
  return (
    <Empty text={t('fleet.runs.none')}>
      <p>{t('fleet.runs.push')}</p>
      <Command text="gowhy record -d 10s -o run.gowhy --url http://localhost:6060" />
      <Command text="gowhy fleet runs push run.gowhy --service NAME" />
    </Empty>
  )
}

function RunCard(p: { of: Recording }): JSX.Element {
  const r = p.of
  const cause = firstCause(r)
  const file = r.id.slice(0, SHORT) + '.gowhy'
  return (
    <article class={`fleet-card card ${cause ? 'fleet-worse' : ''}`} tabIndex={-1}>
      <h4>
        <a href={href(`services?service=${encodeURIComponent(r.service)}`)}>{r.service}</a>
        {r.version && ' ' + r.version}: {cause ? <Said text={cause.title} /> : verdictText(r)}
      </h4>
      <Rows
        rows={[
          ...(cause?.where ? [[t('fleet.findings.where'), <code>{cause.where}</code>] as Row] : []),
          ...(cause?.gain ? [[t('fleet.findings.gain'), <Said text={cause.gain} />] as Row] : []),
          [t('fleet.runs.of'), <>{momentText(Date.parse(r.start))}, {dur(r.duration_ns)}{r.instance && `, ${t('fleet.runs.instance', { name: r.instance })}`}{r.go && `, ${r.go}`}</>],
          ...(r.diagnosis.held?.[0] ? [[t('fleet.runs.held'), <>{bytes(r.diagnosis.held[0].bytes)}: <code>{plain(r.diagnosis.held[0].way)}</code></>] as Row] : []),
          ...(r.diagnosis.why ? [[t('fleet.runs.notdone'), plain(r.diagnosis.why)] as Row] : []),
          ...(r.event ? [[t('fleet.runs.event'), r.killed ? killedText(r) : r.event] as Row] : []),
          ...(r.why ? [[t('fleet.runs.why'), r.why] as Row] : []),
        ]}
      />
      <p><a class="button" href={`api/v1/runs/${r.id}`} download={file}>{t('fleet.runs.download', { size: bytes(r.bytes) })}</a></p>
      <div class="fleet-prove"><span class="muted">{t('fleet.findings.more')}</span><Command text={`gowhy fleet runs get ${r.id.slice(0, SHORT)} -o ${file} && gowhy view ${file}`} /></div>
    </article>
  )
}

type Row = [what: string, value: JSX.Element | string]

function verdictText(r: Recording): string {
  const { state, verdict } = r.diagnosis
  if (state !== 'done') return t(`fleet.runs.${state}`)
  return verdict === 'healthy' ? t('fleet.runs.healthy') : t('fleet.runs.nothing')
}

function matches(r: Recording, q: string): boolean {
  const cause = firstCause(r)
  return [r.id, r.service, r.version ?? '', r.instance ?? '', cause?.title ?? '', cause?.rule ?? ''].some((s) => s.toLowerCase().includes(q.toLowerCase()))
}
