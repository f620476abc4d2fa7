// What is wrong now, since when, and what was wrong and is no more.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { LiveAsked, LiveFinding, LiveVerdict } from '../api'
import { post, problem, type ApiError } from '../client'
import { useKeys } from '../keys'
import { Fold } from '../parts/fold'
import { say } from '../parts/live'
import { Said } from '../parts/said'
import { Failed } from '../parts/states'
import { t, tn } from '../strings'
import { gone, nameOf, present } from './feed'
import { wall } from './times'

export function Findings(p: { verdict: LiveVerdict; pid: number | undefined; ended: boolean }): JSX.Element {
  const now = present(p.verdict.findings)
  const wrong = now.filter((f) => !f.remark), remarks = now.filter((f) => f.remark)
  const went = gone(p.verdict.findings)
  const judged = p.verdict.line !== ''
  return (
    <section class="live-findings" aria-labelledby="live-findings">
      <h2 id="live-findings">{t('live.findings')}</h2>
      {wrong.length > 0
        ? <List of={wrong} />
        : <p class="muted">{judged ? t('live.findings.none') : t('live.first')}</p>}
      {remarks.length > 0 && <><h3>{t('live.findings.remarks')}</h3><List of={remarks} /></>}
      {went.length > 0 && <Fold id="went" title={t('live.findings.went', { n: went.length })}><List of={went} /></Fold>}
      {!p.ended && judged && <Unchecked {...p} />}
    </section>
  )
}

function List(p: { of: LiveFinding[] }): JSX.Element {
  return <ul class="live-list">{p.of.map((f) => <Item key={nameOf(f) + f.since_ms} f={f} />)}</ul>
}

const dots: Record<string, string> = { high: '●●●', medium: '●●○', low: '●○○' }

function Item(p: { f: LiveFinding }): JSX.Element {
  const { f } = p
  const when = f.until_ms > 0 ? t('live.findings.from', { from: wall(f.since_ms), to: wall(f.until_ms) }) : t('live.since', { when: wall(f.since_ms) })
  return (
    <li class={'card live-finding' + (f.remark || f.until_ms > 0 ? '' : ' live-finding-wrong')} data-rule={f.rule}>
      <h4><Said text={f.title} /></h4>
      {f.where !== '' && <code class="live-where">{f.where}</code>}
      {f.summary !== '' && <p><Said text={f.summary} /></p>}
      <p class="live-small">
        <span class="live-when">{when}</span>
        {f.gain !== '' && <span><span class="muted">{t('core.expect')}</span> <strong><Said text={f.gain} /></strong></span>}
        {!f.remark && f.confidence !== '' && <span><span class="live-dots" aria-hidden="true">{dots[f.confidence] ?? '○○○'}</span> {tn('core.confidence.' + f.confidence, f.confidence)}</span>}
      </p>
    </li>
  )
}

// Unchecked counts the rules that only a trace answers, and takes one.
function Unchecked(p: { verdict: LiveVerdict; pid: number | undefined }): JSX.Element | null {
  const [asked, setAsked] = useState<{ busy?: boolean; note?: string; error?: ApiError }>({})
  const list = p.verdict.unchecked
  const ask = (): void => {
    if (asked.busy) return
    setAsked({ busy: true })
    post<LiveAsked>('api/live/trace', { pid: p.pid }).then(
      ({ note }) => {
        setAsked({ note })
        say(note)
      },
      (e: unknown) => setAsked({ error: problem(e) }),
    )
  }
  useKeys({ t: ask }, [['t', t('live.key.trace')]])
  return (
    <div class="live-unchecked">
      {list.length > 0 && (
        <>
          <p>{t('live.unchecked', { n: list.length })}</p>
          <Fold id="unchecked" title={t('live.unchecked.which')}><ul>{list.map((u, i) => <li key={i}><Said text={u} /></li>)}</ul></Fold>
        </>
      )}
      <button type="button" disabled={asked.busy} onClick={ask}>{t('live.trace')}</button>
      {asked.note && <p class="live-note"><Said text={asked.note} /></p>}
      {asked.error && <Failed error={asked.error} />}
    </div>
  )
}
