// Undo of navigation. A jump is a step of the browser's history, so that its
// "back" undoes it; a movement by hand only replaces the address, for no browser
// takes sixty steps a second. This remembers both in order, so that one key undoes
// whichever was last.
import type { Window } from './window'

interface Step {
  jump: boolean
  before: Window
}

const MOST = 100

export class Undo {
  private steps: Step[] = []
  private asked = false // the browser to go back, which will tell that it did

  /** moved remembers where a movement began; movements close to each other are one. */
  moved(before: Window): void {
    this.push({ jump: false, before })
  }

  jumped(before: Window): void {
    this.push({ jump: true, before })
  }

  /** undo takes the last step: a window to show again, or 'back' for the browser. */
  undo(): Window | 'back' | undefined {
    const last = this.steps.pop()
    if (last?.jump) this.asked = true
    return last && (last.jump ? 'back' : last.before)
  }

  /** went tells that the browser went back by itself: what lay on top of that jump is gone. */
  went(): void {
    if (this.asked) {
      this.asked = false
      return
    }
    while (this.steps.length > 0) if (this.steps.pop()!.jump) return
  }

  get empty(): boolean {
    return this.steps.length === 0
  }

  private push(s: Step): void {
    this.steps.push(s)
    if (this.steps.length > MOST) this.steps.shift()
  }
}
