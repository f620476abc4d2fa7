// The ruler: where its ticks are, and what stands at them. Deep inside a long
// recording a tick's full time is too long to be read, so ticks are told from the
// nearest round time before them: "12.345 s" at that time, "+250 µs" after it.
import type { Window } from './window'

export interface Tick {
  at: number
  label: string
  /** The label is a full time. */
  full: boolean
}

export interface Ruler {
  ticks: Tick[]
  /** The round time that labels with a plus count from; "" when none do. */
  base: string
}

/** step is the round number of nanoseconds, 1, 2 or 5 times a power of ten, that is at least so long. */
export function step(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  for (const m of [1, 2, 5]) if (power * m >= least) return power * m
  return power * 10
}

const UNITS: [ns: number, name: string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
]

/** exact writes a time in a unit that suits it, with as many digits as the step needs and no more. */
export function exact(ns: number, unitOf: number, step: number): string {
  const [unit, name] = UNITS.find(([u]) => Math.abs(unitOf) >= u) ?? [1, 'ns']
  const digits = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9))
  return `${(ns / unit).toFixed(digits)} ${name}`
}

/** How many steps a label may count before it is told from a nearer base. */
const FAR = 10_000

export function ruler(w: Window, width: number, spacing = 96): Ruler {
  const count = Math.max(1, Math.floor(width / spacing))
  const by = step((w.to - w.from) / count)
  // Bases are a power of ten apart and at least a hundred steps, so that few
  // ticks are bases and offsets stay short.
  const far = 10 ** Math.ceil(Math.log10(by) + 2 - 1e-9)
  const absolute = w.to <= by * FAR
  const ticks: Tick[] = []
  for (let i = Math.ceil(w.from / by); i * by <= w.to; i++) {
    const at = i * by
    const rest = at % far
    const full = absolute || rest < by / 2 || far - rest < by / 2
    ticks.push({
      at,
      full,
      label: full ? exact(at, absolute ? w.to : at || by, absolute ? by : far) : '+' + exact(rest, rest, by),
    })
  }
  const before = Math.floor(w.from / far) * far
  return { ticks, base: absolute ? '' : exact(before, before || far, far) }
}
