// The states that goroutines, Ps and threads are in: one name, one colour and one
// letter on every screen.
import { States } from './api'
import { tn } from './strings'

export interface StateLook {
  /** The custom property with the colour of areas, which is the same in pictures, bars and legends. */
  fill: string
  letter: string
  /** Set where the colour is calm, and letters on it have --on-wait instead of --on-work. */
  calm: boolean
}

const CALM = ['sync', 'net', 'wait', 'unknown']

export const STATES: Readonly<Record<string, StateLook>> = Object.fromEntries(States.map((s) => [s.word, { fill: `--${s.word}-fill`, letter: s.letter, calm: CALM.includes(s.word) }]))

/** How a state looks; that of what has no name is the unknown's. */
export function stateLook(word: string): StateLook {
  return (Object.hasOwn(STATES, word) ? STATES[word] : undefined) ?? STATES['unknown']!
}

/** The state of a wait, by its reason in the runtime's words. */
export function waitState(reason: string): string {
  return States.find((s) => s.reasons.some((part) => reason.includes(part)))?.word ?? 'wait'
}

/**
 * The state that the runtime's word for a goroutine's status means. One that waits says
 * for what, as its status does in a profile of goroutines, or in a reason beside it.
 */
export function stateOf(status: string, reason = ''): string {
  const word = status.toLowerCase()
  if (Object.hasOwn(STATES, word)) return word
  const first = word.split(/[ ,]/)[0]!
  if (first !== word && ['running', 'runnable', 'syscall'].includes(first)) return first
  return waitState(reason || status)
}

/** What a state is called. */
export function stateName(word: string): string {
  return tn('core.state.' + word, word)
}
