// A deploy that made a service worse or better.
import type { JSX } from 'preact'
import { IntervalPlot } from '../data/interval'
import { plain } from '../flame/text'
import { Command } from '../parts/copy'
import { Said } from '../parts/said'
import { t } from '../strings'
import { href } from '../url'
import type { Cause, Change } from './api'
import { Rows } from './parts'
import { momentText } from './time'
import { alsoName, alsoText, chanceText, costText, deltaText, fromText, proofOf, timesText } from './words'
import '../data/data.css'

/** The flame graph of the difference. */
export function flameOf(c: Change): string {
  const q = new URLSearchParams({ service: c.service, version: c.head, base: c.base })
  if (c.function) q.set('focus', c.function)
  return 'flame?' + q.toString()
}

export function ChangeCard(p: { of: Change; all: readonly Change[] }): JSX.Element {
  const c = p.of
  const name = { service: c.service, head: c.head }
  const worse = c.verdict === 'worse'
  return (
    <article class={`fleet-card card fleet-${c.verdict}`} tabIndex={-1}>
      <h4>
        <span class={`mark mark-${worse ? 'bad' : 'good'}`} aria-hidden="true">{worse ? '!' : '✓'}</span>{' '}
        <a href={href(flameOf(c))}>{worse ? t('fleet.change.worse', name) : t('fleet.change.better', name)}</a>
      </h4>
      <p class="fleet-lead">
        {timesText(c)}{c.function && <>, {t('fleet.change.in')} <code>{plain(c.function)}</code></>}
      </p>
      <div class="fleet-interval">
        <IntervalPlot change={{ ratio: c.ratio ?? null, low: c.low ?? null, high: c.high ?? null }} span={spanOf(p.all)} tone={worse ? 'bad' : 'good'} />
        <span class="muted">{t('fleet.change.interval')}</span>
      </div>
      <Rows
        rows={[
          [t('fleet.change.cost'), t('fleet.change.is', { is: costText(c.is, c.unit), was: costText(c.was, c.unit) })],
          [t('fleet.change.from'), fromText(c)],
          ...(c.p === undefined ? [] : [[t('fleet.change.p'), t('fleet.change.p.text', { p: chanceText(c.p) })] as [string, string]]),
          [t('fleet.change.since'), `${momentText(Date.parse(c.since))}, ${c.base} → ${c.head}`],
          ...(c.also ?? []).map((a): [string, string] => [alsoName(a.type), alsoText(a)]),
          ...(c.causes ?? []).map((cause): [string, JSX.Element] => [t('fleet.change.cause'), <CauseText of={cause} />]),
          ...(c.no_cause ? [[t('fleet.change.cause'), c.no_cause] as [string, string]] : []),
          ...(c.unit === 'cores' ? [[t('fleet.change.but'), t('fleet.change.but.text')] as [string, string]] : []),
        ]}
      />
      {(c.functions?.length ?? 0) > 0 && <Functions of={c} />}
      <p class="fleet-links"><a href={href(flameOf(c))}>{t('fleet.change.flame')}</a></p>
      <div class="fleet-prove"><span class="muted">{t('fleet.change.proof')}</span><Command text={proofOf(c)} /></div>
    </article>
  )
}

function CauseText(p: { of: Cause }): JSX.Element {
  return <><Said text={p.of.title} />{p.of.function && <>, <code>{plain(p.of.function)}</code></>}</>
}

/** The doublings that plots of several changes have on either side, so that they can be compared. */
export function spanOf(all: readonly Change[]): number {
  const logs = all.flatMap((c) => [c.low, c.high, c.ratio]).map((x) => (x !== undefined && x > 0 ? Math.abs(Math.log2(x)) : 0))
  return Math.min(4, Math.max(Math.log2(1.1), 1.15 * Math.max(0, ...logs)))
}

function Functions(p: { of: Change }): JSX.Element {
  const { functions = [], unit } = p.of
  return (
    <details class="disclosure">
      <summary>{t('fleet.change.functions', { n: functions.length })}</summary>
      <div class="fleet-scroll" tabIndex={0}>
        <table class="fleet-table">
          <thead>
            <tr><th scope="col">{t('fleet.change.function')}</th><th scope="col" class="right">{t('fleet.change.was')}</th><th scope="col" class="right">{t('fleet.change.now')}</th><th scope="col" class="right">{t('fleet.change.delta')}</th></tr>
          </thead>
          <tbody>
            {functions.map((f) => (
              <tr key={f.name}>
                <th scope="row" class="mono">{plain(f.name)}</th>
                <td class="right">{costText(f.was, unit)}</td><td class="right">{costText(f.is, unit)}</td><td class="right">{deltaText(f.delta, unit)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
