// The states that goroutines, Ps and threads are in: one name, one colour and one
// letter on every screen.
import { tn } from './strings'

export const STATES: Record<string, { css: string; letter: string }> = {
  running: { css: '--running', letter: 'R' },
  runnable: { css: '--runnable', letter: 'Q' },
  syscall: { css: '--syscall', letter: 'S' },
  sync: { css: '--sync', letter: 'L' },
  net: { css: '--net', letter: 'N' },
  wait: { css: '--wait', letter: 'W' },
  gc: { css: '--gc', letter: 'G' },
  unknown: { css: '--unknown', letter: '?' },
}

/** What a state is called. */
export function stateName(word: string): string {
  return tn('core.state.' + word, word)
}
