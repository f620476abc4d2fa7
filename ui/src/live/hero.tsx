// Which program this is, how it does, and whether it is still heard.
import type { JSX } from 'preact'
import type { LiveNews, LiveProgram } from '../api'
import { dur, num, share } from '../format'
import { Said } from '../parts/said'
import { t } from '../strings'
import { href } from '../url'
import type { Status } from './connection'
import { present, type Feed } from './feed'
import { wall } from './times'

interface HeroProps {
  feed: Feed
  status: Status
  /** The picture is stopped. */
  stopped: boolean
}

export function Hero(p: HeroProps): JSX.Element {
  const { news } = p.feed
  const program = news.program
  const wrong = present(news.verdict.findings).filter((f) => !f.remark)
  // What needs a trace to be seen was not looked at: that is not yet good.
  const tone = wrong.length > 0 ? 'bad' : news.verdict.line === '' || news.verdict.unchecked.length > 0 ? 'none' : 'good'
  return (
    <section class={`live-hero card live-hero-${tone}`} aria-labelledby="live-name">
      <div class="live-hero-head">
        <h2 id="live-name">{program?.name}</h2>
        {program && program.version !== '' && <span class="muted">{program.version}</span>}
        <Heard {...p} ended={news.ended} />
      </div>
      {p.status.at === 'lost' && <p class="live-note">{t('live.lost.hint')}</p>}
      {news.ended && <p class="live-note">{t('live.gone')} <Successor news={news} /></p>}
      <p class="live-line">
        {news.verdict.line === '' ? <span class="muted">{t('live.first')}</span> : <Said text={news.verdict.line} />}
        {wrong[0] && <small class="muted"> {t('live.since', { when: wall(wrong[0].since_ms) })}</small>}
      </p>
      {program && <Facts program={program} news={news} />}
      {news.programs.length > 1 && <Programs list={news.programs} pid={program?.pid} />}
    </section>
  )
}

type News = Feed['news']

// Heard says in words how the connection is.
export function Heard(p: { status: Status; stopped: boolean; ended: boolean }): JSX.Element {
  const { status } = p
  if (status.at === 'lost') return <span class="live-heard live-heard-lost"><span class="mark mark-bad" aria-hidden="true">!</span> {t('live.lost', { when: wall(status.since) })}</span>
  const state = status.at === 'connecting' ? 'connecting' : p.ended ? 'ended' : p.stopped ? 'paused' : 'live'
  return <span class={`live-heard live-heard-${state}`}><i aria-hidden="true" />{t(`live.${state}`)}</span>
}

// Successor leads to the same program under another number: that which began last.
function Successor(p: { news: News }): JSX.Element | null {
  const { program } = p.news
  const [next] = p.news.programs.filter((o) => o.name === program?.name && o.pid !== program.pid).sort((a, b) => a.up_ms - b.up_ms)
  return next ? <a href={href(`live?pid=${next.pid}`)}>{t('live.successor', { pid: next.pid })}</a> : null
}

function Facts(p: { program: LiveProgram; news: News }): JSX.Element {
  const { program, news } = p
  const { verdict, machine, cost } = news
  const facts: [string, string][] = [[t('live.pid'), String(program.pid)]]
  if (program.go !== '') facts.push(['Go', program.go.replace(/^go(?=\d)/, '')])
  facts.push([t('live.up'), dur(Math.floor(program.up_ms / 1000) * 1e9)])
  if (program.restarts > 0) facts.push([t('live.restarts'), String(program.restarts)])
  if (program.user !== '') facts.push([t('live.user'), program.user])
  if (machine.cpus > 0) {
    const stolen = machine.steal >= 0.005 ? ', ' + t('live.machine.steal', { steal: num(machine.steal, 'cores') }) : ''
    facts.push([t('live.machine'), t('live.machine.busy', { busy: Math.max(0, machine.busy).toFixed(1), cpus: machine.cpus }) + stolen])
  }
  return (
    <>
      <dl class="live-facts">{facts.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
      {program.command !== '' && <p class="live-command clip" title={program.command}><code>{program.command}</code></p>}
      <p class="live-small">
        {verdict.at_ms > 0 && <span>{t('live.judged', { n: verdict.judged, when: wall(verdict.at_ms) })}</span>}
        {cost.budget > 0 && <span>{t('live.cost.is', { used: share(cost.cores), most: share(cost.budget) })}</span>}
      </p>
    </>
  )
}

const tenths = (cores: number): number => Math.round(Math.max(0, cores) * 10)

// Programs are those that are watched, busiest first: each leads to its own. Their
// order goes by tenths of a core, so that it does not change every second.
function Programs(p: { list: LiveNews['programs']; pid: number | undefined }): JSX.Element {
  return (
    <nav class="live-programs" aria-label={t('live.programs')}>
      <ul>
        {[...p.list].sort((a, b) => tenths(b.cores) - tenths(a.cores)).map((o) => (
          <li key={o.pid}>
            <a href={href(`live?pid=${o.pid}`)} aria-current={o.pid === p.pid ? 'true' : undefined}>
              <b class="clip">{o.name}</b>
              <span class="live-programs-pid">{o.pid}</span>
              <span class="live-programs-cores">{num(tenths(o.cores) / 10, 'cores')}</span>
              <span class="live-programs-line clip">{o.verdict}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
