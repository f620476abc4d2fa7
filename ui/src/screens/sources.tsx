// What was recorded and what was not, in which forms it can be taken away, and
// other viewers of it.
import { Fragment, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Export, Member, Refusal, Sources as All, Tool } from '../api'
import { downloadURL, isStatic, useData } from '../client'
import { Panel, Warnings } from '../data/panel'
import { cell } from '../format'
import { Command } from '../parts/copy'
import { Said } from '../parts/said'
import { Failed, Hint, Loading } from '../parts/states'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { setParams, usePlace } from '../url'
import '../data/data.css'
import './sources.css'

export function Sources(p: { r: number }): JSX.Element {
  const { data, error } = useData<All>('api/sources', { r: p.r })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  return (
    <div class="data-screen">
      <div class="data-head"><h2>{t('data.src.title')}</h2></div>
      {data.command && <Panel title={t('data.src.command')}><Command text={data.command} /></Panel>}
      {(data.notes?.length ?? 0) > 0 && <Panel title={t('data.src.notes')}><Warnings list={data.notes} /></Panel>}
      <Members members={data.members ?? []} />
      {(data.refused?.length ?? 0) > 0 && <Refused list={data.refused ?? []} />}
      {!isStatic && <Exports r={p.r} list={data.exports ?? []} />}
      {!isStatic && (data.tools?.length ?? 0) > 0 && <Tools r={p.r} tools={data.tools ?? []} exports={data.exports ?? []} />}
      <Build facts={data.build ?? []} />
    </div>
  )
}

function Members(p: { members: Member[] }): JSX.Element {
  const cols: Col<Member>[] = [
    { key: 'name', title: t('data.src.member'), sortable: true, width: 'minmax(11rem, 1fr)', value: (m) => m.name, cell: (m) => <span class="mono">{m.name}</span> },
    { key: 'bytes', title: t('data.src.size'), align: 'right', sortable: true, width: '6.4rem', value: (m) => m.bytes, cell: (m) => cell(m.bytes, 'bytes'), text: (m) => String(m.bytes) },
    { key: 'what', title: t('data.src.what'), width: 'minmax(16rem, 3fr)', cell: (m) => m.what },
    ...(isStatic ? [] : [{ key: 'get', title: t('data.src.get'), width: '7.5rem', cell: (m: Member) => (m.get ? <a href={m.get} download>{t('data.src.download')}</a> : ''), text: (m: Member) => m.get }]),
  ]
  return <Table caption={t('data.src.members')} cols={cols} rows={p.members} height={720} empty={t('data.src.nomembers')} />
}

function Refused(p: { list: Refusal[] }): JSX.Element {
  return (
    <Panel title={t('data.src.refused')}>
      <ul class="src-refused">
        {p.list.map((r, i) => (
          <li key={i}>
            <b>{r.source}</b> <span>{r.why}</span>
            {r.how && <Hint text={r.how} />}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Exports(p: { r: number; list: Export[] }): JSX.Element {
  return (
    <Panel title={t('data.src.exports')}>
      {p.list.length === 0 && <p class="data-note">{t('data.src.noexports')}</p>}
      <ul class="src-exports">
        {p.list.map((e) => <OneExport key={e.format} r={p.r} of={e} />)}
      </ul>
    </Panel>
  )
}

function OneExport(p: { r: number; of: Export }): JSX.Element {
  const e = p.of
  const profiles = e.profiles ?? [], tables = e.tables ?? []
  const { params } = usePlace()
  const chosen = (list: string[], name: string) => list.find((x) => x === params.get(name)) ?? list[0]
  const profile = chosen(profiles, 'profile'), table = chosen(tables, 'table')
  return (
    <li>
      <div class="src-format"><b>{e.format}</b> <span class="muted"><Said text={e.doc} /></span></div>
      <div class="src-choose">
        {profiles.length > 0 && <Choice label={t('data.src.profile')} list={profiles} value={profile} onValue={(v) => setParams({ profile: v }, { replace: true })} />}
        {tables.length > 0 && <Choice label={t('data.src.table')} list={tables} value={table} onValue={(v) => setParams({ table: v }, { replace: true })} />}
        <a class="src-get" href={downloadURL('api/export', { r: p.r, format: e.format, profile, table })} download>{t('data.src.getext', { ext: e.ext })}</a>
      </div>
    </li>
  )
}

function Choice(p: { label: string; list: string[]; value: string | undefined; onValue(v: string): void }): JSX.Element {
  return (
    <label class="data-field">
      <span>{p.label}</span>
      <select value={p.value} onChange={(e) => p.onValue(e.currentTarget.value)}>
        {p.list.map((x) => <option key={x} value={x}>{tn('data.profile.' + x, x)}</option>)}
      </select>
    </label>
  )
}

/** What is offered first, as the server does: a run may have none of it. */
const mostTelling = ['cpu', 'kernel', 'states', 'allocs', 'heap']

// Tools leads to viewers that have an origin of their own; the page they show is
// another one, in a tab of its own.
function Tools(p: { r: number; tools: Tool[]; exports: Export[] }): JSX.Element {
  const profiles = p.exports.find((e) => e.profiles?.length)?.profiles ?? []
  const [chosen, setProfile] = useState('')
  const profile = chosen || (mostTelling.find((x) => profiles.includes(x)) ?? profiles[0])
  return (
    <Panel title={t('data.src.tools')}>
      <p class="data-note">{t('data.src.tools.what')}</p>
      {profiles.length > 0 && p.tools.some((tool) => tool.path) && <Choice label={t('data.src.profile')} list={profiles} value={profile} onValue={setProfile} />}
      <ul class="src-tools">
        {p.tools.map((tool) => (
          <li key={tool.name}>
            {tool.path
              ? <a class="src-get" href={withProfile(tool.path, profile)} target="_blank" rel="noopener noreferrer">{t('data.src.opentool', { tool: tool.name })} ↗</a>
              : <><b>{tool.name}</b> <span class="muted">{tool.why}</span></>}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function withProfile(path: string, profile: string | undefined): string {
  if (!profile) return path
  return path + (path.includes('?') ? '&' : '?') + 'profile=' + encodeURIComponent(profile)
}

function Build(p: { facts: { key: string; value: string }[] }): JSX.Element | null {
  if (p.facts.length === 0) return null
  return (
    <Panel title={t('data.src.build')}>
      <dl class="data-facts src-build">
        {p.facts.map((f) => <Fragment key={f.key}><dt class="mono">{f.key}</dt><dd class="mono">{f.value}</dd></Fragment>)}
      </dl>
    </Panel>
  )
}
