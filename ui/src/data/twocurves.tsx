// One knob of two searches: both curves in one picture, and what became of the goal
// at each value that both measured.
import type { JSX } from 'preact'
import { Table, type Col } from '../parts/table'
import { t } from '../strings'
import { measuredColumns, numbers } from './columns'
import { Panel } from './panel'
import { knobText, metricText, type CurvePoint, type TwoCurves, type ValueChange } from './results'
import { TwoLines, type Side } from './twolines'

function sideOf(arm: string, c: TwoCurves, points: readonly CurvePoint[], chosen: number | null): Side {
  return {
    marked: chosen,
    spots: points.filter((p) => p.goal !== null && p.goal > 0).map((p) => ({
      x: p.value, y: p.goal as number, low: p.low, high: p.high, hollow: !p.kept,
      title: `${arm}, ${c.knob}=${knobText(c, p.value)}: ${metricText(c.goal, p.goal)} (${metricText(c.goal, p.low)} … ${metricText(c.goal, p.high)})${p.kept ? '' : ' · ' + t('data.tune.breaks')}`,
    })),
  }
}

export function CurvesPanel(p: { of: TwoCurves }): JSX.Element {
  const c = p.of
  const chosen = (v: number | null) => (v === null ? '–' : knobText(c, v))
  const goals = [...c.a, ...c.b].flatMap((x) => x.goal ?? []).filter((v) => v > 0)
  const values = [...c.a, ...c.b].map((x) => x.value)
  const wide = (list: number[], times: number) => Math.min(...list) > 0 && Math.max(...list) / Math.min(...list) > times
  const words = t('data.two.chosen', { knob: c.knob, a: chosen(c.chosen_a), b: chosen(c.chosen_b) })
  return (
    <Panel title={t('data.tune.over', { metric: c.goal, knob: c.knob })}>
      <p>{words}</p>
      <TwoLines
        a={sideOf('A', c, c.a, c.chosen_a)}
        b={sideOf('B', c, c.b, c.chosen_b)}
        x={{ text: (v) => knobText(c, v), title: t('data.two.recommended', { knob: c.knob }), log: wide(values, 3) }}
        y={{ text: (v) => metricText(c.goal, v), title: c.goal, log: wide(goals, 20) }}
        alt={words}
      />
      {c.values.length > 0 ? <Values of={c} /> : <p class="data-note">{t('data.two.novalue')}</p>}
    </Panel>
  )
}

function Values(p: { of: TwoCurves }): JSX.Element {
  const c = p.of
  const best = (points: readonly CurvePoint[], v: number) => points.find((x) => x.value === v)?.to_best ?? null
  const off = (v: number) => (v <= 1 ? t('data.tune.best') : `+${((v - 1) * 100).toFixed(1)}%`)
  const cols: Col<ValueChange>[] = [
    { key: 'value', title: c.knob, align: 'right', sortable: true, width: '8.1rem', value: (r) => r.value, cell: (r) => knobText(c, r.value), text: (r) => String(r.value) },
    numbers('a', 'A', (r) => r.a, (v) => metricText(c.goal, v)),
    numbers('b', 'B', (r) => r.b, (v) => metricText(c.goal, v)),
    ...measuredColumns(c.values),
    numbers('best_a', t('data.two.tobest', { side: 'A' }), (r) => best(c.a, r.value), off),
    numbers('best_b', t('data.two.tobest', { side: 'B' }), (r) => best(c.b, r.value), off),
  ]
  return (
    <>
      <Table caption={t('data.two.values')} cols={cols} rows={c.values} height={380} />
      <p class="data-note">{t('data.two.how')}</p>
    </>
  )
}
