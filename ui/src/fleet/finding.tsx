// A finding of the fleet: what is wrong in which service, what it costs, and what shows
// it. Its sentences are the server's, in English.
import type { JSX } from 'preact'
import { plain } from '../flame/text'
import { count, num } from '../format'
import { Command } from '../parts/copy'
import { Said } from '../parts/said'
import { t, tn } from '../strings'
import { href } from '../url'
import type { Finding } from './api'
import { Rows, Spark } from './parts'
import { momentText } from './time'

export function FindingCard(p: { of: Finding; currency: string }): JSX.Element {
  const f = p.of
  const flame = 'flame?' + new URLSearchParams({ service: f.service, ...(f.versions.length === 1 && f.versions[0] ? { version: f.versions[0] } : {}), ...(f.function ? { focus: f.function } : {}) })
  return (
    <article class={`fleet-card card ${f.state === 'open' ? 'fleet-worse' : 'fleet-gone'}`} tabIndex={-1}>
      <h4>
        <span class={`mark mark-${f.state === 'open' ? 'bad' : 'none'}`} aria-hidden="true">{f.state === 'open' ? '!' : '–'}</span>{' '}
        <a href={href(`services?service=${encodeURIComponent(f.service)}`)}>{f.service}</a>: <Said text={f.title} />
      </h4>
      <p class="fleet-lead">{costOf(f, p.currency)}{f.bound !== undefined && <span class="muted"> · {t('fleet.findings.bound', { v: num(f.bound, f.unit) })}</span>}</p>
      <Rows
        rows={[
          ...(f.function ? [[t('fleet.findings.where'), <><code>{plain(f.function)}</code>{f.file && <span class="muted mono"> {plain(f.file)}{f.line > 0 && ':' + f.line}</span>}</>] as [string, JSX.Element]] : []),
          [t('fleet.findings.since'), `${t('fleet.findings.span', { first: momentText(Date.parse(f.first)), last: momentText(Date.parse(f.last)) })}, ${f.instances === 1 ? t('fleet.findings.instance') : t('fleet.findings.instances', { n: count(f.instances) })}`],
          ...(f.versions.length > 0 ? [[t('fleet.col.versions'), f.versions.map((v) => v || t('fleet.unversioned')).join(', ')] as [string, string]] : []),
          [t('fleet.findings.state'), [tn('fleet.findings.state.' + f.state, f.state), tn('core.confidence.' + f.confidence, f.confidence), f.rule].filter((s) => s !== '').join(', ')],
          ...(f.trend.length > 1 ? [[t('fleet.findings.trend'), <Spark values={f.trend.map((point) => point.cost)} unit={f.unit} wide />] as [string, JSX.Element]] : []),
        ]}
      />
      {f.evidence.length > 0 && (
        <details class="disclosure">
          <summary>{t('fleet.findings.evidence')}</summary>
          <ul class="data-list">{f.evidence.map((line, i) => <li key={i}><Said text={line} /></li>)}</ul>
        </details>
      )}
      {f.function !== '' && <p class="fleet-links"><a href={href(flame)}>{t('fleet.findings.flame')}</a></p>}
      {f.command !== '' && <Command text={f.command} />}
    </article>
  )
}

function costOf(f: Finding, currency: string): string {
  return [
    num(f.cost, f.unit),
    ...(f.cores !== undefined && f.unit !== 'cores' ? [num(f.cores, 'cores')] : []),
    ...(f.money !== undefined && currency !== '' ? [`${count(f.money)} ${currency}`] : []),
  ].join(' · ')
}

/** That no rule has looked yet, why, and what to do meanwhile. */
export function Unjudged(p: { without: boolean }): JSX.Element {
  return (
    <div class="state fleet-nothing">
      <p class="state-what">{t('fleet.findings.unjudged')}</p>
      <p>{p.without ? t('fleet.findings.unjudged.norules') : t('fleet.findings.unjudged.soon')}</p>
      <p>{t('fleet.findings.record')}</p>
      <Command text="gowhy record --url http://localhost:6060" />
    </div>
  )
}
