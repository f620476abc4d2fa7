// What changed between two runs, what a saved experiment found, or how two such differ.
import type { JSX } from 'preact'
import type { Compare as Answer, Session, Trial as Saved } from '../api'
import { isStatic, useData } from '../client'
import { CapacityView } from '../data/capacity'
import { ComparisonView } from '../data/comparison'
import type { Capacity, CapacityTable, Comparison, Trial, Tuned } from '../data/results'
import { TrialView } from '../data/trial'
import { TuneView } from '../data/tune'
import { Command } from '../parts/copy'
import { Empty, Failed, Loading } from '../parts/states'
import { t, tn } from '../strings'
import { go, href, usePlace } from '../url'
import '../data/data.css'
import './compare.css'

export function Compare(_: { r: number }): JSX.Element {
  const session = useData<Session>('api/session')
  if (session.error) return <Failed error={session.error} />
  if (!session.data) return <Loading />
  return <Chosen session={session.data} />
}

// A choice is what is shown: a saved result, alone or against another, or two runs.
type Choice = { trial: number; other?: number } | { a: number; b: number } | null

function choiceOf(params: URLSearchParams, session: Session): Choice {
  const runs = session.runs?.length ?? 0, trials = session.trials?.length ?? 0
  const index = (name: string, otherwise: number) => {
    const text = params.get(name)
    return text !== null && /^\d+$/.test(text) ? Number(text) : otherwise
  }
  if (params.has('trial') && trials > 0) {
    const trial = Math.min(trials - 1, index('trial', 0))
    const other = index('with', -1)
    return other >= 0 && other < trials && other !== trial ? { trial, other } : { trial }
  }
  if (runs < 2) return trials > 0 ? { trial: 0 } : null
  const a = Math.min(runs - 1, index('a', 0))
  return { a, b: Math.min(runs - 1, index('b', mateOf(session.runs, a))) }
}

/** The run to compare with when nobody said which: the next of the same program, else the next. */
export function mateOf(runs: readonly { program: string }[], a: number): number {
  const others = [...runs.keys()].filter((i) => i !== a).sort((x, y) => Number(x < a) - Number(y < a) || x - y)
  const program = runs[a]?.program ?? ''
  return others.find((i) => program !== '' && runs[i]?.program === program) ?? others[0] ?? 0
}

function Chosen(p: { session: Session }): JSX.Element {
  const { params } = usePlace()
  const choice = choiceOf(params, p.session)
  const ask = choice === null ? undefined : !('trial' in choice) ? { a: choice.a, b: choice.b } : choice.other === undefined ? { trial: choice.trial } : { trial: choice.trial, with: choice.other }
  const { data, error } = useData<Answer>(choice === null ? null : 'api/compare', ask)
  if (choice === null) {
    return (
      <Empty text={t('data.cmp.nothing')}>
        <Command text="gowhy view before.gowhy after.gowhy" />
        <Command text="gowhy verify --format json -o trial.json … && gowhy view trial.json" />
      </Empty>
    )
  }
  return (
    <div class="data-screen">
      <div class="data-head">
        <h2>{t('data.cmp.title')}</h2>
        <Chooser session={p.session} choice={choice} />
        {'a' in choice && !error && <a href={href(`flame?r=${choice.b}&kind=cpu&base=${choice.a}`)}>{t('data.cmp.flame')}</a>}
      </div>
      {'trial' in choice && choice.other === undefined && <Title saved={p.session.trials[choice.trial]} />}
      {error ? <Failed error={error} /> : !data ? <Loading /> : <Shown data={data} />}
    </div>
  )
}

function Shown(p: { data: Answer }): JSX.Element {
  const d = p.data
  if (d.comparison) return <ComparisonView of={d.comparison as Comparison} />
  if (d.trial) return <TrialView of={d.trial as Trial} />
  if (d.tune) return <TuneView of={d.tune as Tuned} />
  if (d.capacity) return <CapacityView of={d.capacity as Capacity | CapacityTable} />
  return <Empty text={t('data.cmp.unknown')} />
}

function Title(p: { saved: Saved | undefined }): JSX.Element | null {
  if (!p.saved) return null
  return <p class="cmp-title"><b>{p.saved.name}</b> <span class="muted">{tn('data.kind.' + p.saved.kind, p.saved.kind)}</span></p>
}

function Chooser(p: { session: Session; choice: NonNullable<Choice> }): JSX.Element {
  const runs = p.session.runs ?? [], trials = p.session.trials ?? []
  const choice = p.choice
  const kind = 'trial' in choice ? `t${choice.trial}` : 'runs'
  const choose = (v: string) => go(v === 'runs' ? 'compare' : `compare?trial=${v.slice(1)}`)
  return (
    <>
      {trials.length > 0 && (runs.length > 1 || trials.length > 1) && (
        <label class="data-field">
          <span>{'trial' in choice && choice.other !== undefined ? 'A' : t('data.cmp.show')}</span>
          <select value={kind} onChange={(e) => choose(e.currentTarget.value)}>
            {runs.length > 1 && <option value="runs">{t('data.cmp.tworuns')}</option>}
            {trials.map((x, i) => <option key={i} value={`t${i}`}>{named(trials, i)} ({tn('data.kind.' + x.kind, x.kind)})</option>)}
          </select>
        </label>
      )}
      {'trial' in choice ? <Other trials={trials} trial={choice.trial} other={choice.other} /> : <Sides runs={runs} a={choice.a} b={choice.b} />}
    </>
  )
}

// named is a result by its name; of several with one name, by its number as well.
function named(trials: readonly Saved[], i: number): string {
  const name = trials[i]?.name ?? ''
  return trials.some((x, j) => j !== i && x.name === name) ? `${i + 1}. ${name}` : name
}

/**
 * The results with which one can be compared: others of its kind. A report file has
 * the first of each kind against each other one.
 */
export function matesOf(trials: readonly Saved[], i: number, fixed: boolean): number[] {
  const kind = trials[i]?.kind
  if (kind === undefined || kind === 'comparison') return []
  const first = trials.findIndex((x) => x.kind === kind)
  return trials.flatMap((x, j) => (j !== i && x.kind === kind && (!fixed || i === first || j === first) ? [j] : []))
}

function Other(p: { trials: readonly Saved[]; trial: number; other: number | undefined }): JSX.Element | null {
  const mates = matesOf(p.trials, p.trial, isStatic)
  if (mates.length === 0 && p.other === undefined) return null
  // An address may name one of another kind: it is shown as chosen, and the answer says why not.
  const shown = p.other === undefined || mates.includes(p.other) ? mates : [...mates, p.other]
  return (
    <>
      {p.other !== undefined && <Swap to={`compare?trial=${p.other}&with=${p.trial}`} />}
      <label class="data-field">
        <span>{p.other === undefined ? t('data.cmp.with') : 'B'}</span>
        <select value={String(p.other ?? '')} onChange={(e) => go(`compare?trial=${p.trial}` + (e.currentTarget.value === '' ? '' : `&with=${e.currentTarget.value}`))}>
          <option value="">{t('data.cmp.nobody')}</option>
          {shown.map((i) => <option key={i} value={String(i)}>{named(p.trials, i)}</option>)}
        </select>
      </label>
    </>
  )
}

function Swap(p: { to: string }): JSX.Element {
  return <button type="button" title={t('data.cmp.swap')} aria-label={t('data.cmp.swap')} onClick={() => go(p.to)}>⇄</button>
}

function Sides(p: { runs: Session['runs']; a: number; b: number }): JSX.Element {
  const runs = p.runs ?? []
  const side = (which: 'a' | 'b', value: number, other: number) => (
    <label class="data-field">
      <span>{which.toUpperCase()}</span>
      <select
        value={String(value)}
        onChange={(e) => {
          const v = Number(e.currentTarget.value)
          // Choosing the other side's run exchanges the two.
          let [a, b] = which === 'a' ? [v, v === other ? value : other] : [v === other ? value : other, v]
          // A report file has the first run against each other one.
          if (isStatic && a > 0 && b > 0) [a, b] = which === 'a' ? [a, 0] : [0, b]
          go(`compare?a=${a}&b=${b}`)
        }}
      >
        {runs.map((run, i) => <option key={i} value={String(i)}>{i + 1}. {run.name}</option>)}
      </select>
    </label>
  )
  return (
    <>
      {side('a', p.a, p.b)}
      <Swap to={`compare?a=${p.b}&b=${p.a}`} />
      {side('b', p.b, p.a)}
    </>
  )
}
