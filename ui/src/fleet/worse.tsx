// What got worse, and since when: deploys, what costs more without one, what grows, and
// causes that were not there before. The first thing to read of a fleet.
import type { JSX } from 'preact'
import { plain } from '../flame/text'
import { Said } from '../parts/said'
import { t } from '../strings'
import { href } from '../url'
import type { Finding, FindingsAnswer, Versions } from './api'
import { MOST, useAnswer } from './ask'
import { GROWS } from './rows'
import { momentText } from './time'
import { timesText } from './words'

export interface Worse {
  service: string
  since: number
  /** It may be older than the time that was asked for. */
  earlier: boolean
  /** A deploy's version, by how much it is worse, or else what was found. */
  head: string
  what: string
  where: string
  /** A screen with all of it. */
  to: string
}

/** All that got worse, the latest first. */
export function worseOf(versions: Versions | undefined, findings: FindingsAnswer | undefined): Worse[] {
  const found = (f: Finding, screen: string): Worse => ({
    service: f.service, since: Date.parse(f.first), earlier: f.earlier, head: '', what: f.title, where: f.function ?? '', to: `${screen}?q=${encodeURIComponent(f.service)}`,
  })
  const deploys = (versions?.changes ?? []).filter((c) => c.verdict === 'worse').map((c): Worse => ({
    service: c.service, since: Date.parse(c.since), earlier: false, head: c.head, what: timesText(c), where: c.function ?? '', to: `versions?q=${encodeURIComponent(c.service)}`,
  }))
  const came = (findings?.findings ?? []).filter((f) => f.state === 'open' && (!f.earlier || f.rule in GROWS))
  return [...deploys, ...(versions?.steps ?? []).map((s) => found(s, 'versions')), ...came.map((f) => found(f, 'findings'))]
    .sort((a, b) => b.since - a.since || (a.service < b.service ? -1 : 1))
}

const SHOWN = 8

export function WorseList(p: { findings: FindingsAnswer | undefined }): JSX.Element | null {
  const all = worseOf(useAnswer<Versions>('versions', { limit: MOST }).data, p.findings)
  if (all.length === 0) return null
  return (
    <section class="fleet-section">
      <h2>{t('fleet.worse', { n: all.length })}</h2>
      <ul class="data-list card fleet-worse-list">
        {all.slice(0, SHOWN).map((w, i) => (
          <li key={i}>
            <span class="mark mark-bad" aria-hidden="true">!</span>{' '}
            <a href={href(w.to)}>{w.head ? t('fleet.change.worse', { service: w.service, head: w.head }) : <>{w.service}: <Said text={w.what} /></>}</a>{' '}
            {w.head && <span>{w.what}</span>} {w.where && <code>{plain(w.where)}</code>}{' '}
            <span class="muted">{t('fleet.worse.since', { when: w.earlier ? t('fleet.findings.earlier', { first: momentText(w.since) }) : momentText(w.since) })}</span>
          </li>
        ))}
      </ul>
      {all.length > SHOWN && <p><a href={href('versions')}>{t('core.screen.versions')}</a>, <a href={href('findings')}>{t('core.screen.findings')}</a></p>}
    </section>
  )
}
