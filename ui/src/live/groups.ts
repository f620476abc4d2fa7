// Groups of goroutines as areas on top of each other: the largest of a window, and
// the rest as one.
//
// Which are the largest changes while the window moves. A group keeps its place and
// with it its colour for as long as it is among them; one that comes takes the place
// of one that went.
import type { LiveGroup, LivePoint } from '../api'
import { indexAt, type Line, type Range } from '../data/series'
import type { Times } from './feed'

/** How many groups have an area of their own. */
export const AREAS = 8

/** All goroutines of a point; negative where they could not be read. */
export function goroutinesOf(p: LivePoint): number {
  const states = [p.running, p.runnable, p.syscall, p.blocked]
  return states.every((n) => n < 0) ? -1 : states.reduce((sum, n) => sum + Math.max(0, n), 0)
}

/** How large the groups are on average, by their number, over the points of a window. */
export function means(times: Times, range: Range): Map<number, number> {
  const sums = new Map<number, number>()
  let points = 0
  for (let i = indexAt(times.at, range[0]); i < times.at.length && times.at[i]! <= range[1]; i++) {
    const p = times.of[i]
    if (!p || goroutinesOf(p) < 0) continue
    points++
    eachGroup(p, (g, n) => sums.set(g, (sums.get(g) ?? 0) + n))
  }
  for (const [g, sum] of sums) sums.set(g, sum / points)
  return sums
}

function eachGroup(p: LivePoint, tell: (group: number, count: number) => void): void {
  const list = p.groups ?? []
  for (let i = 0; i + 1 < list.length; i += 2) tell(list[i]!, list[i + 1]!)
}

/** The largest groups by place; a place may be empty. */
export type Places = readonly (number | undefined)[]

export function largest(mean: ReadonlyMap<number, number>, before: Places): Places {
  const top = [...mean].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, AREAS).map(([g]) => g)
  const places: (number | undefined)[] = Array.from({ length: AREAS }, (_, i) => {
    const g = before[i]
    return g !== undefined && top.includes(g) ? g : undefined
  })
  for (const g of top) {
    if (places.includes(g)) continue
    places[places.indexOf(undefined)] = g
  }
  return places
}

/** The lines of the groups at their places, and that of all the others. */
export function areas(times: Times, places: Places): { groups: (Line | undefined)[]; other: Line } {
  const groups = places.map((g) => (g === undefined ? undefined : { at: times.at, value: [] as (number | null)[] }))
  const other: Line = { at: times.at, value: [] }
  const place = new Map(places.map((g, i) => [g, i]))
  const counts = new Array<number>(places.length)
  for (const p of times.of) {
    const all = p ? goroutinesOf(p) : -1
    if (!p || all < 0) {
      for (const l of groups) l?.value.push(null)
      other.value.push(null)
      continue
    }
    counts.fill(0)
    eachGroup(p, (g, n) => {
      const i = place.get(g)
      if (i !== undefined) counts[i] = n
    })
    groups.forEach((l, i) => l?.value.push(counts[i]!))
    other.value.push(Math.max(0, all - counts.reduce((sum, n) => sum + n, 0)))
  }
  return { groups, other }
}

/** A name for the address that is the same in another visit, when the numbers are others. */
export function markOf(g: LiveGroup): string {
  let h = 0x811c9dc5
  for (const c of g.function + '\n' + g.state + '\n' + g.reason) h = Math.imul(h ^ c.codePointAt(0)!, 0x01000193)
  return 'g' + (h >>> 0).toString(36)
}
