// The verdict, what to change, and how sure that is. The words are those of the
// text report; each number that has a place in the page leads there.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Diagnosis, Fact, FactLink, Fine as FineLine, Finding, FindingLinks, Findings as Answer, Place, Session, Together as Joint, Unchecked } from '../api'
import { isStatic, useData } from '../client'
import { bytes, count, dur, share } from '../format'
import { Accounts } from '../data/evidence'
import { Ledger } from './ledger'
import { useKeys } from '../keys'
import { Command, Copy } from '../parts/copy'
import { Fold } from '../parts/fold'
import { Said, To } from '../parts/said'
import { Failed, Loading } from '../parts/states'
import { headline } from '../data/headline'
import { useOpened } from '../session'
import { word } from '../shell'
import { lang, t, tn } from '../strings'
import { href, param, setParams, usePlace } from '../url'
import './findings.css'

/** How many findings are shown in full: the one to begin with. */
const EXPANDED = 1

export function Findings(p: { r: number }): JSX.Element {
  usePlace() // which of both is asked for stands in it
  const runs = useOpened()?.runs ?? []
  const mates = runs[p.r]?.together ?? []
  const joint = param(ALL) !== null && mates.length > 1
  const single = useData<Answer>(joint ? null : 'api/findings', { r: p.r })
  const together = useData<Joint>(mates.length > 1 ? 'api/together' : null, { runs: mates.join() })
  const { data, error } = joint ? { data: together.data?.findings, error: together.error } : single
  if (error) return <Failed error={error} />
  if (!data?.diagnosis) return <Loading />
  return <Answered answer={data} together={<Together r={p.r} joint={joint} runs={runs} of={together.data} />} />
}

/** The parameter that has several recordings judged as one. */
const ALL = 'all'

function Answered(p: { answer: Answer; together: JSX.Element }): JSX.Element {
  const { answer: data } = p
  const d = data.diagnosis!
  // Where nothing is to be repaired, what the evidence holds is what was asked.
  const accounts = <Accounts d={d} links={data.accounts} />
  const answer = !d.findings.some((f) => !f.remark)
  return (
    <div class="findings">
      {p.together}
      <Verdict d={d} />
      <div class="findings-main">
        <Doubts items={[headline(d)[1], ...d.warnings].filter((s) => s !== '')} />
        {answer && accounts}
        <Cards d={d} links={data.links} />
        {!answer && accounts}
        <Fine items={d.fine} sick={d.findings.length > 0} />
        <Lines
          id="obsolete" title={t('core.obsolete')} mark="–" tone="none"
          items={d.obsolete.map((o) => t('core.obsolete.text', { pattern: o.pattern, since: o.since, why: o.why }))}
        />
        <NotChecked list={d.unchecked} />
        <Next d={d} />
      </div>
      <Ledger d={d} />
    </div>
  )
}

// Together is what several recordings of one program say as one, and each by itself.
function Together(p: { r: number; joint: boolean; runs: Session['runs']; of: Joint | undefined }): JSX.Element | null {
  const d = p.of?.findings.diagnosis
  if (!p.of || !d) return null
  return (
    <nav class="together card" aria-labelledby="together">
      <h2 id="together">{t('core.together', { n: p.of.runs.length })}</h2>
      <ul class="finding-more">
        <li><Choice to={`findings?${ALL}=1`} here={p.joint} verdict={d.verdict} name={t('core.together.all')} /></li>
        {p.of.runs.map((r) => (
          <li key={r}><Choice to={`findings?r=${r}`} here={!p.joint && r === p.r} verdict={p.runs[r]?.verdict ?? ''} name={p.runs[r]?.name ?? ''} /></li>
        ))}
      </ul>
      {!p.joint && <p><Said text={d.summary.replace(/\. .*$/s, '.')} /></p>}
    </nav>
  )
}

function Choice(p: { to: string; here: boolean; verdict: string; name: string }): JSX.Element {
  const [mark, tone] = verdictMark[p.verdict] ?? ['?', 'none']
  return (
    <a href={href(p.to)} aria-current={p.here ? 'true' : undefined}>
      <span class={`mark mark-${tone}`} aria-hidden="true">{mark}</span> {p.name} <span class="muted">{tn('core.verdict.' + p.verdict, p.verdict)}</span>
    </a>
  )
}

const verdictMark: Record<string, [mark: string, tone: string]> = {
  problem: ['!', 'bad'],
  stalled: ['!', 'bad'],
  healthy: ['✓', 'good'],
  unclear: ['?', 'warn'],
  idle: ['–', 'warn'],
  'not-loaded': ['–', 'warn'],
  partial: ['–', 'warn'],
  'too-thin': ['?', 'warn'],
}

// Verdict is two lines: what is wrong and what mending it brings; then the sentence with the
// figures. What else the summary says stands below, with what else takes from the evidence.
function Verdict(p: { d: Diagnosis }): JSX.Element {
  const { d } = p
  const [mark, tone] = verdictMark[d.verdict] ?? ['?', 'none']
  const first = d.findings[0]
  const wrong = (d.verdict === 'problem' || d.verdict === 'stalled') && first && !first.remark
  const gain = wrong && (first.bound.value !== 0 || first.bound.kind === 'release') ? first.bound.words : ''
  return (
    <section class={`verdict card verdict-${tone}`} aria-labelledby="verdict">
      <h2 id="verdict">
        <span class={`mark mark-${tone}`} aria-hidden="true">{mark}</span> {tn('core.verdict.' + d.verdict, d.verdict)}
        {wrong && <span class="verdict-title"><Said text={first.title} /></span>}
      </h2>
      {gain !== '' && <p class="verdict-gain"><small>{t('core.expect')}</small> <strong><Said text={gain} /></strong></p>}
      {d.death && <p class="verdict-summary"><Said text={`It ${d.death}.`} /></p>}
      <p class="verdict-summary"><Said text={headline(d)[0]} /></p>
      <p class="verdict-subject">{subject(d)}</p>
      {lang() !== 'en' && <p class="verdict-subject">{t('core.english')}</p>}
    </section>
  )
}

// subject says what was read.
function subject(d: Diagnosis): string {
  const parts: string[] = []
  const shown = d.runs?.find((r) => r.shown)
  if (shown) parts.push(t('core.together.of', { n: d.runs!.length, file: shown.file }))
  else if (d.files.length > 0) parts.push(d.files.join(', '))
  if (d.trace) {
    if (d.trace.go !== '') parts.push(d.trace.go)
    parts.push(dur(d.trace.duration_ns), t('core.events', { n: count(d.trace.events) }))
    if (d.trace.lost_bytes > 0) parts.push(t('core.lost', { n: bytes(d.trace.lost_bytes) }))
  } else if (d.cpu && d.cpu.window_ns > 0) {
    parts.push(dur(d.cpu.window_ns))
  }
  if (d.goal) parts.push(t('core.goal', { goal: tn('core.goal.' + d.goal, d.goal) }))
  return parts.join(' · ')
}

// Doubts are what the machine or the recording takes from the evidence: read
// before the findings, in a line each.
function Doubts(p: { items: string[] }): JSX.Element | null {
  const [first, ...more] = p.items
  if (first === undefined) return null
  const line = (item: string, i: number) => <Line key={i} mark="!" tone="warn"><Said text={item} /></Line>
  return (
    <section class="lines doubts" aria-labelledby="warnings">
      <h2 id="warnings" class="sr">{t('core.warnings')}</h2>
      <ul>{line(first, 0)}</ul>
      {more.length > 0 && <Fold id="warnings" title={t('core.warnings.more', { n: more.length })}><ul>{more.map(line)}</ul></Fold>}
    </section>
  )
}

function Cards(p: { d: Diagnosis; links: FindingLinks[] }): JSX.Element | null {
  const list = p.d.findings
  useStep(list.length)
  // Partial evidence cannot show that there is nothing.
  if (list.length === 0) return p.d.verdict === 'partial' ? null : <p class="findings-none">{t('core.nofindings')}</p>
  return (
    <section aria-labelledby="what-to-change">
      <h2 id="what-to-change">{t(list.every((f) => f.remark) ? 'core.remarks' : 'core.findings')}</h2>
      {list.length > 1 && <Index list={list} runs={p.d.runs?.length} />}
      <ol class="cards">
        {list.map((f, i) => <li key={i}><Card n={i + 1} f={f} links={p.links[i]} headline={p.d.summary} runs={p.d.runs?.length} /></li>)}
      </ol>
    </section>
  )
}

// useStep goes from finding to finding with the keys.
function useStep(n: number): void {
  const step = (by: number) => {
    const at = Number(param('f') ?? 0)
    setParams({ f: Math.min(Math.max(at + by, 1), n) }, { replace: true })
  }
  useKeys(n > 0 ? { j: () => step(1), k: () => step(-1) } : {}, n > 0 ? [['j k', t('core.help.findings')]] : [])
}

// Index is all findings at a glance: what, where, how much, and how sure.
function Index(p: { list: Finding[]; runs: number | undefined }): JSX.Element {
  return (
    <ol class="findings-index" aria-label={t('core.index')}>
      {p.list.map((f, i) => (
        <li key={i}>
          <a href={href(`findings?${p.runs ? ALL + '=1&' : ''}f=${i + 1}`)}><Said text={f.title} /></a>
          <span class="findings-index-gain"><Said text={f.bound.words} /></span>
          <span class="findings-index-place mono clip">{f.where[0] ? shortPlace(f.where[0]) : f.scope}</span>
          <Confidence f={f} runs={p.runs} short />
        </li>
      ))}
    </ol>
  )
}

// shortPlace is the file and line, or else the function, without folders.
function shortPlace(w: Place): string {
  if (w.file !== '') return w.file.slice(w.file.lastIndexOf('/') + 1) + (w.line > 0 ? ':' + w.line : '')
  return w.function.slice(w.function.replace(/\[.*/, '').lastIndexOf('/') + 1)
}

interface CardProps {
  n: number
  f: Finding
  links: FindingLinks | undefined
  /** What the verdict has said already. */
  headline: string
  /** How many recordings were judged together. */
  runs: number | undefined
}

function Card(p: CardProps): JSX.Element {
  const { n, f } = p
  const meant = param('f') === String(n)
  const box = useRef<HTMLElement>(null)
  useEffect(() => {
    if (!meant) return
    box.current?.scrollIntoView({ block: 'start' })
    box.current?.focus({ preventScroll: true })
  }, [meant])
  const told = n <= EXPANDED && p.headline.includes(f.summary.replace(/\.$/, ''))
  return (
    <article class="finding card" id={`finding-${n}`} ref={box} tabIndex={-1} aria-labelledby={`finding-${n}-title`} data-rule={f.rule}>
      <header class="finding-head">
        <span class="finding-n" aria-hidden="true">{n}</span>
        <h3 id={`finding-${n}-title`}><span class="sr">{n}. </span><Said text={f.title} /></h3>
        <Confidence f={f} runs={p.runs} />
      </header>
      {!told && f.summary !== '' && <p class="finding-summary"><Said text={f.summary} /></p>}
      {n <= EXPANDED || meant
        ? <Body {...p} />
        : <Fold id={`f${n}`} title={t('core.more')}><Body {...p} /></Fold>}
    </article>
  )
}

const dots: Record<string, string> = { high: '●●●', medium: '●●○', low: '●○○' }

function Confidence(p: { f: Finding; runs: number | undefined; short?: boolean }): JSX.Element {
  const { f, runs } = p
  const sure = f.remark ? t(p.short ? 'core.remark.short' : 'core.remark') : tn('core.confidence.' + f.confidence, f.confidence)
  const found = runs && f.found ? t('core.together.in', { n: f.found, all: runs }) : ''
  return (
    <p class="finding-sure">
      {!f.remark && <><span aria-hidden="true">{dots[f.confidence] ?? '○○○'}</span> </>}
      {p.short && found !== '' && !f.remark ? <><b class="sr">{sure}, </b>{found}</> : [sure, found].filter((s) => s !== '').join(', ')}
    </p>
  )
}

function Body(p: CardProps): JSX.Element {
  const { n, f, links } = p
  const more = links?.more ?? []
  return (
    <div class="finding-body">
      <Effect n={n} f={f} links={links} />
      <Row label={t('core.where')}>
        {f.where.length > 0 && <Where places={f.where} links={links?.where} source={links?.source} />}
        {f.scope && <p><Said text={f.scope} /></p>}
      </Row>
      <Row label={t('core.evidence')}>
        {f.evidence.length > 0 && <Evidence caption={t('core.evidence.of', { n })} facts={f.evidence} links={links?.evidence} />}
      </Row>
      <Row label={t('core.see')} class="finding-see">
        {more.length > 0 && (
          <ul class="finding-more">
            {more.map((l) => <li key={l.to}><To link={l.to}>{tn(l.title)}</To></li>)}
          </ul>
        )}
      </Row>
      <Row label={t('core.do')} class="finding-do">{hasRemedy(f) && <Remedy f={f} />}</Row>
      <Row label={t('core.prove')}>
        {(f.try.length > 0 || f.prove !== '' || f.missing) && (
          <>
            {f.try.map((command) => <Command key={command} text={command} />)}
            {f.missing && <p><Said text={f.missing} /></p>}
            {f.prove !== '' && <p><Said text={f.prove} /></p>}
          </>
        )}
      </Row>
      <Row label={t('core.sure')}>{f.confidence_reasons.length > 0 && <Sentences items={f.confidence_reasons} />}</Row>
      <Folds {...p} />
    </div>
  )
}

// Row is a labelled part of a card; one without content is not there.
function Row(p: { label: string; class?: string; children: ComponentChildren }): JSX.Element | null {
  if (!p.children) return null
  return (
    <div class={'finding-row ' + (p.class ?? '')}>
      <h4>{p.label}</h4>
      <div>{p.children}</div>
    </div>
  )
}

function Sentences(p: { items: string[] }): JSX.Element {
  return <ul class="sentences">{p.items.map((s, i) => <li key={i}><Said text={s} /></li>)}</ul>
}

// Effect is what the problem costs beside what its fix brings at most. Both are
// computed from evidence, and lead there.
function Effect(p: { n: number; f: Finding; links: FindingLinks | undefined }): JSX.Element | null {
  const { n, f, links } = p
  const { cost, bound } = f
  if (cost.what === '' && bound.method === '') return null
  return (
    <dl class="effect">
      {cost.what !== '' && (
        <div>
          <dt>{t('core.cost')}</dt>
          <dd>
            <strong><To link={links?.cost.to}>{cost.text}</To></strong> <Said text={cost.what} />
            {cost.share > 0 && cost.unit !== 'ratio' && <span class="muted"> ({share(cost.share)})</span>}
            <From operands={cost.operands} link={links?.cost} />
          </dd>
        </div>
      )}
      {bound.method !== '' && (
        <div>
          <dt>{t('core.expect')}</dt>
          <dd>
            <strong><To link={bound.value === 0 ? undefined : links?.bound.to}><Said text={bound.words} /></To></strong>
            {bound.along && <small class="effect-from"><Said text={bound.along} /></small>}
            <Fold id={`m${n}`} class="effect-method" title={t('core.method')}>
              <p><Said text={bound.method} /></p>
              <From operands={bound.operands} link={links?.bound} />
            </Fold>
          </dd>
        </div>
      )}
    </dl>
  )
}

// From names the numbers that a number is computed from.
function From(p: { operands: Fact[] | undefined; link: FactLink | undefined }): JSX.Element | null {
  if (!p.operands || p.operands.length === 0) return null
  return (
    <small class="effect-from">
      {t('core.from')}{' '}
      {p.operands.map((f, i) => <span key={i}>{i > 0 && ', '}<Said text={f.name} /> <To link={p.link?.operands[i]?.to}>{f.text}</To></span>)}
    </small>
  )
}

// Where leads from a function to the picture that shows it, and from a line to the source,
// which a report file does not hold.
function Where(p: { places: Place[]; links: string[] | undefined; source: string[] | undefined }): JSX.Element {
  return (
    <ul class="where">
      {p.places.map((place, i) => (
        <li key={i}>
          <To link={p.links?.[i]}><code class="where-func">{place.function}</code></To>
          {place.file !== '' && <>{'  '}<To link={(!isStatic && p.source?.[i]) || p.links?.[i]}><code class="where-file">{place.line > 0 ? `${place.file}:${place.line}` : place.file}</code></To></>}
        </li>
      ))}
    </ul>
  )
}

function Evidence(p: { caption: string; facts: Fact[]; links: FactLink[] | undefined }): JSX.Element {
  return (
    <table class="evidence">
      <caption class="sr">{p.caption}</caption>
      <thead class="sr">
        <tr><th scope="col">{t('core.evidence.what')}</th><th scope="col">{t('core.evidence.value')}</th><th scope="col">{t('core.evidence.source')}</th></tr>
      </thead>
      <tbody>
        {p.facts.map((f, i) => (
          <tr key={i}>
            <th scope="row"><Said text={f.name} /></th>
            <td class="right"><To link={p.links?.[i]?.to}>{f.text}</To></td>
            <td class="muted"><Said text={f.origin.text} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function hasRemedy(f: Finding): boolean {
  return f.remedy.text !== '' || !!f.remedy.code || !!f.remedy.knob
}

function Remedy(p: { f: Finding }): JSX.Element {
  const { text, code, knob } = p.f.remedy
  return (
    <>
      {text !== '' && <p><Said text={text} /></p>}
      {code && (
        <div class="code">
          <pre tabIndex={0} aria-label={t('core.code')}><code>{code.replace(/\s+$/, '').replaceAll('\t', '    ')}</code></pre>
          <Copy text={code} label={t('core.code')} />
        </div>
      )}
      {knob && <p class="knob">{t('core.knob')}: <code>{knob}</code> <Copy text={knob} /></p>}
    </>
  )
}

function Folds(p: CardProps): JSX.Element {
  const { n, f, links } = p
  const symptoms = f.symptoms ?? []
  return (
    <div class="folds">
      {symptoms.length > 0 && (
        <Fold id={`s${n}`} title={t('core.symptoms', { n: symptoms.length })}>
          {symptoms.map((s, i) => <Symptom key={i} n={`${n}.${i + 1}`} f={s} links={links?.symptoms[i]} />)}
        </Fold>
      )}
      {f.ruled_out.length > 0 && (
        <Fold id={`x${n}`} title={t('core.ruledout', { n: f.ruled_out.length })}><Sentences items={f.ruled_out} /></Fold>
      )}
      <Fold id={`e${n}`} title={t('core.explain')}><Command text={`gowhy explain ${f.rule}`} /></Fold>
    </div>
  )
}

function Symptom(p: { n: string; f: Finding; links: FindingLinks | undefined }): JSX.Element {
  return (
    <div class="symptom">
      <h4><Said text={p.f.title} /> <small class="muted">({p.f.rule})</small></h4>
      <p><Said text={p.f.summary} /></p>
      {p.f.evidence.length > 0 && <Evidence caption={t('core.evidence.of', { n: p.n })} facts={p.f.evidence} links={p.links?.evidence} />}
    </div>
  )
}

// Lines is a list with a mark before each line; an empty one is not there.
function Lines(p: { id: string; title: string; items: string[]; mark: string; tone: string }): JSX.Element | null {
  if (p.items.length === 0) return null
  return (
    <section class="lines" aria-labelledby={p.id}>
      <h2 id={p.id}>{p.title}</h2>
      <ul>{p.items.map((item, i) => <Line key={i} mark={p.mark} tone={p.tone}><Said text={item} /></Line>)}</ul>
    </section>
  )
}

function Line(p: { mark: string; tone: string; children: ComponentChildren }): JSX.Element {
  return (
    <li class="line">
      <span class={`mark mark-${p.tone}`} aria-hidden="true">{p.mark}</span>
      <div>{p.children}</div>
    </li>
  )
}

/** How much of what is fine is read when there is something to repair, and when there is not. */
const FINE_SICK = 4
const FINE_WELL = 8

function Fine(p: { items: FineLine[]; sick: boolean }): JSX.Element | null {
  if (p.items.length === 0) return null
  const most = p.sick ? FINE_SICK : FINE_WELL
  const shown = p.items.length <= most + 1 ? p.items.length : most
  const line = (item: FineLine, i: number) => <Line key={i} mark="✓" tone="good"><Said text={item.text} /></Line>
  return (
    <section class="lines" aria-labelledby="fine">
      <h2 id="fine">{t('core.fine')}</h2>
      <ul>{p.items.slice(0, shown).map(line)}</ul>
      {shown < p.items.length && (
        <Fold id="fine" title={t('core.fine.more', { n: p.items.length - shown })}><ul>{p.items.slice(shown).map(line)}</ul></Fold>
      )}
    </section>
  )
}

// NotChecked lists what needs one command together, and the command once.
function NotChecked(p: { list: Unchecked[] }): JSX.Element | null {
  if (p.list.length === 0) return null
  const by = new Map<string, Unchecked[]>()
  for (const u of p.list) by.set(u.how, [...(by.get(u.how) ?? []), u])
  return (
    <section class="lines" aria-labelledby="unchecked">
      <h2 id="unchecked">{t('core.unchecked')}</h2>
      {[...by].map(([how, list]) => (
        <div key={how} class="unchecked">
          <ul>{list.map((u, i) => <Line key={i} mark="?" tone="none"><Said text={u.why === '' ? u.what : `${u.what}: ${u.why}`} /></Line>)}</ul>
          {how !== '' && <Command text={how} />}
        </div>
      ))}
    </section>
  )
}

function Next(p: { d: Diagnosis }): JSX.Element | null {
  const next = nextCommands(p.d)
  if (next.length === 0) return null
  return (
    <section class="lines" aria-labelledby="next">
      <h2 id="next">{t('core.next')}</h2>
      {next.map(([command, why]) => (
        <div key={command} class="next">
          <p class="muted">{why}</p>
          <Command text={command} />
        </div>
      ))}
    </section>
  )
}

function nextCommands(d: Diagnosis): [command: string, why: string][] {
  const out: [string, string][] = []
  const file = d.runs?.find((r) => r.shown)?.file ?? d.files.map(word).join(' ')
  if (file !== '' && !d.files.includes('-')) {
    if (d.trace) out.push([`gowhy ledger ${file}`, t('core.next.ledger')])
    else if (d.cpu) out.push([`gowhy ledger ${file}`, t('core.next.ledgercpu')])
  }
  const again = d.unchecked.find((u) => u.how.startsWith('gowhy record -d '))?.how.replace(/ {3}#.*$/, '')
  if (d.findings.length === 0 && d.verdict !== 'healthy') out.push([again ?? 'gowhy record --help', t('core.next.record')])
  return out
}
