// A finding of the fleet: what is wrong in which service, what it costs, and what to do.
// Its sentences are the server's, in English.
import type { JSX } from 'preact'
import { plain } from '../flame/text'
import { count } from '../format'
import { Command, Copy } from '../parts/copy'
import { Said } from '../parts/said'
import { t, tn } from '../strings'
import { href } from '../url'
import type { Fact, Finding, FindingsAnswer } from './api'
import { Rows, Spark } from './parts'
import { trendOf } from './points'
import { GROWS, silentOf } from './rows'
import { momentText } from './time'
import { findingCost } from './words'

export function FindingCard(p: { of: Finding; currency: string }): JSX.Element {
  const f = p.of
  const open = f.state === 'open'
  const reasons = f.confidence_reasons ?? []
  const sure = <>{tn('core.confidence.' + f.confidence, f.confidence)}{reasons.length > 0 && <span class="muted">: <Said text={reasons.join('; ')} /></span>}</>
  return (
    <article class={`fleet-card card ${open ? 'fleet-worse' : 'fleet-gone'}`} tabIndex={-1}>
      <h4>
        <span class={`mark mark-${open ? 'bad' : 'none'}`} aria-hidden="true">{open ? '!' : '–'}</span>{' '}
        <a href={href(`services?service=${encodeURIComponent(f.service)}`)}>{f.service}</a>: <Said text={f.title} />
      </h4>
      <p class="fleet-lead"><Said text={f.summary} /></p>
      <Rows
        rows={[
          [t('fleet.findings.cost'), findingCost(f, p.currency)],
          ...(f.function ? [[t('fleet.findings.where'), <Place of={f} function={f.function} />] as Row] : []),
          ...(f.recording?.held ? [[t('fleet.findings.held'), <code>{plain(f.recording.held)}</code>] as Row] : []),
          ...(f.gain ? [[t('fleet.findings.gain'), <><Said text={f.gain} />, {t('fleet.findings.each')}, {sure}</>] as Row] : f.confidence ? [[t('fleet.findings.sure'), sure] as Row] : []),
          [t('fleet.findings.since'), sinceText(f)],
          ...(f.trend.length > 1 ? [[t('fleet.findings.trend'), <Spark values={trendOf(f.trend)} unit={f.unit} wide />] as Row] : []),
          ...(f.remedy ? [[t('fleet.findings.do'), <Said text={f.remedy} />] as Row] : []),
        ]}
      />
      {f.code && <div class="fleet-code"><pre tabIndex={0}><code>{f.code.trimEnd()}</code></pre><Copy text={f.code} label={t('core.code')} /></div>}
      <details class="disclosure">
        <summary>{t('fleet.findings.evidence')}</summary>
        <ul class="fleet-evidence">{f.facts.map((fact, i) => <li key={i}><FactLine of={fact} /></li>)}</ul>
        {f.prove && <p>{t('fleet.change.prove')}: <Said text={f.prove} /></p>}
      </details>
      <div class="fleet-prove"><span class="muted">{t('fleet.findings.more')}</span><Command text={f.command} /></div>
      {f.recording && <div class="fleet-prove"><span class="muted">{t('fleet.findings.shown', { when: momentText(Date.parse(f.recording.start)) })}</span><Command text={f.recording.command} /></div>}
    </article>
  )
}

// FactLine shows a number that the finding rests on, and where it is from.
function FactLine(p: { of: Fact }): JSX.Element {
  const { name, text, origin } = p.of
  return <><Said text={text ? `${name}: ${text}` : name} />{origin && <>{' '}<small class="muted"><Said text={origin} /></small></>}</>
}

type Row = [what: string, value: JSX.Element]

function Place(p: { of: Finding; function: string }): JSX.Element {
  const { versions, service, file, line, rule } = p.of
  const version = versions.at(-1)
  const flame = 'flame?' + new URLSearchParams({ service, ...(version ? { version } : {}), ...(GROWS[rule] ? { kind: GROWS[rule] } : {}), focus: p.function }).toString()
  return (
    <>
      <a href={href(flame)} title={t('fleet.findings.flame')}><code>{plain(p.function)}</code></a>
      {file && <span class="muted mono"> {plain(file)}{line ? ':' + line : ''}</span>}
    </>
  )
}

// sinceText says since when it is there, and in which versions.
function sinceText(f: Finding): string {
  const first = momentText(Date.parse(f.first))
  return [
    f.earlier ? t('fleet.findings.earlier', { first }) : first,
    f.versions.map((v) => v || t('fleet.unversioned')).join(', '),
    ...(f.spans > 1 ? [t('fleet.findings.spans', { n: count(f.spans) })] : []),
    ...(f.state === 'gone' ? [t('fleet.findings.gonesince', { last: momentText(Date.parse(f.last)) })] : []),
  ].join(', ')
}

/** What it means that nothing is said of services, by their verdicts. */
export function Silence(p: { of: FindingsAnswer; only?: string }): JSX.Element | null {
  const by = silentOf(p.of, p.only)
  if (by.length === 0) return null
  return <ul class="data-list muted">{by.map(([verdict, services]) => <li key={verdict}>{services.sort().join(', ')}: {tn('fleet.silence.' + verdict, verdict)}</li>)}</ul>
}

/** That no rule has looked at this time, and what to do meanwhile. */
export function Unjudged(): JSX.Element {
  return (
    <div class="state fleet-nothing">
      <p class="state-what">{t('fleet.findings.unjudged')}</p>
      <p>{t('fleet.findings.unjudged.why')}</p>
      <p><a href={href('services')}>{t('core.screen.services')}</a></p>
      <p>{t('fleet.findings.record')}</p>
      <Command text="gowhy record --url http://localhost:6060" />
    </div>
  )
}
