// How goroutines spend their time, as bars: one colour and one letter for each
// state, so that no state is told by its colour alone.
import type { JSX } from 'preact'
import { share } from '../format'
import { stateLook, stateName } from '../state'
import { t } from '../strings'

export interface Part {
  state: string
  value: number
}

/** A bar of the parts of a whole. */
export function StateBar(p: { parts: Part[]; title?: string }): JSX.Element {
  const total = p.parts.reduce((sum, s) => sum + s.value, 0)
  let x = 0
  const text = partsText(p.parts)
  return (
    <svg class="state-bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={p.title ? `${p.title}: ${text}` : text}>
      <title>{text}</title>
      {total > 0 && p.parts.map((s, i) => {
        const width = (100 * s.value) / total
        const at = x
        x += width
        return width < 0.05 ? null : <rect key={i} x={at} y="0" width={width} height="10" fill={`var(${stateLook(s.state).fill})`} />
      })}
    </svg>
  )
}

/** The parts of a whole in words, the largest first. */
export function partsText(parts: readonly Part[]): string {
  const total = parts.reduce((sum, s) => sum + s.value, 0)
  if (total <= 0) return t('core.state.nothing')
  return [...parts].filter((s) => s.value / total >= 0.001).sort((a, b) => b.value - a.value)
    .map((s) => `${stateName(s.state)} ${share(s.value / total)}`).join(' · ')
}

/** The colours and letters of the states that are shown. */
export function StateLegend(p: { states: readonly string[] }): JSX.Element {
  return (
    <ul class="state-legend">
      {p.states.map((s) => <li key={s}><StateKey state={s} />{stateName(s)}</li>)}
    </ul>
  )
}

/** The square with a state's letter. */
export function StateKey(p: { state: string }): JSX.Element {
  const { fill, letter, calm } = stateLook(p.state)
  return <span class={'state-key' + (calm ? ' state-key-calm' : '')} aria-hidden="true" ref={(el) => el?.style.setProperty('background', `var(${fill})`)}>{letter}</span>
}
