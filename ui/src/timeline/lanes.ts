// Rows of the timeline: a tree of lanes of which any part may be open, and of
// whose children only pages are known. A group may open into a hundred thousand
// goroutines, so rows are never listed: a layout is made of runs of equal rows,
// and a row is computed from its place.
import type { Lane } from '../api'

export interface Row {
  id: string
  /** undefined until the page of its parent that holds it has come. */
  lane: Lane | undefined
  parent: string
  /** How far in; below zero where it is no row of the list, as in the overview. */
  depth: number
  /** Of the row from the top of all rows, in pixels of CSS. */
  y: number
  h: number
  /** Place among its parent's children, and how many those are. */
  index: number
  of: number
}

/** Children come in pages of so many. */
export const PAGE = 200

/** No browser scrolls further than about 16 million pixels. */
export const MOST_HEIGHT = 15_000_000

const HEIGHTS: Record<string, number> = {
  line: 44, gc: 22, stw: 18, ps: 40, p: 22, threads: 30, m: 22, groups: 24, g: 30, go: 22, tasks: 26, task: 20, regions: 26, samples: 24, kernel: 36, cpu: 22,
}

export const heightOf = (kind: string): number => HEIGHTS[kind] ?? 22

/** What a lane opens into, for rows whose page has not come. */
const CHILD: Record<string, string> = { ps: 'p', threads: 'm', groups: 'g', g: 'go', tasks: 'task', regions: 'task', kernel: 'cpu' }

const childKind = (kind: string): string => CHILD[kind] ?? 'go'

/** Kinds whose lane is one thing that is in one state at a time. */
export const isSingle = (kind: string): boolean => kind === 'p' || kind === 'm' || kind === 'go' || kind === 'task' || kind === 'gc' || kind === 'stw' || kind === 'cpu'

/** Kinds whose lanes are made of the kernel's samples, and not of the trace. */
export const isKernel = (kind: string): boolean => kind === 'kernel' || kind === 'cpu'

/** kindOfId is what an id says of its lane, where nothing else is known of it. */
export function kindOfId(id: string): string {
  const colon = id.indexOf(':')
  const head = colon < 0 ? id : id.slice(0, colon)
  return head === 'kernel' && colon >= 0 ? 'cpu' : head
}

interface Kids {
  total: number
  list: (Lane | undefined)[] // sparse
}

// A Run is rows below each other with the same parent and height.
interface Run {
  y: number
  h: number
  count: number
  depth: number
  parent: string
  first: number // index of its first row among the parent's children
  of: number
}

export class LaneTree {
  private readonly known = new Map<string, Lane>()
  private readonly kids = new Map<string, Kids>()
  private readonly indexOf = new Map<string, number>() // among its parent's children
  private top: string[] = []
  private open = new Set<string>()
  private pins: string[] = []
  private runs: Run[] | undefined
  private tall = 0

  /** The lanes of api/timeline, parents before children or after them. */
  constructor(lanes: Lane[]) {
    const at = new Map<string, number>()
    for (const lane of lanes) this.known.set(lane.id, lane)
    for (const lane of lanes) {
      if (lane.parent === '' || !this.known.has(lane.parent)) {
        this.top.push(lane.id)
        continue
      }
      const i = at.get(lane.parent) ?? 0
      at.set(lane.parent, i + 1)
      this.place(this.known.get(lane.parent)!, i, lane)
    }
  }

  /** lead puts lanes above those of the trace. */
  lead(lanes: Lane[]): void {
    for (const lane of lanes) this.known.set(lane.id, lane)
    const ids = lanes.map((l) => l.id)
    this.top = [...ids, ...this.top.filter((id) => !ids.includes(id))]
    this.runs = undefined
  }

  /** put is a page of children that came; total is how many there are. */
  put(parent: string, offset: number, lanes: Lane[], total: number): void {
    const lane = this.known.get(parent)
    if (!lane) return
    const kids = this.kidsOf(lane)
    kids.total = Math.max(0, Math.min(total, 10_000_000))
    lanes.forEach((l, i) => this.place(lane, offset + i, l))
    this.runs = undefined
  }

  /** meet makes a lane known that no page has brought, like a goroutine that was searched for. */
  meet(lane: Lane): void {
    if (!this.known.has(lane.id)) {
      this.known.set(lane.id, lane)
      this.runs = undefined
    }
  }

  /** rename gives a lane that was only met the name that became known, and says whether it is another. */
  rename(id: string, label: string): boolean {
    const lane = this.known.get(id)
    if (!lane || this.indexOf.has(id) || lane.label === label) return false
    this.known.set(id, { ...lane, label })
    return true
  }

  isTop(id: string): boolean {
    return this.top.includes(id)
  }

  /** startOpen are the lanes that are open when nobody said which: heads without a picture of their own. */
  get startOpen(): string[] {
    return this.top.filter((id) => id === 'groups')
  }

  lane(id: string): Lane | undefined {
    return this.known.get(id)
  }

  /** find is the first known lane that satisfies. */
  find(like: (l: Lane) => boolean): Lane | undefined {
    for (const l of this.known.values()) if (like(l)) return l
    return undefined
  }

  /** Lanes that stand above the rest, whether or not they are elsewhere too. */
  pin(ids: string[]): void {
    this.pins = ids
    this.runs = undefined
  }

  get pinned(): readonly string[] {
    return this.pins
  }

  setOpen(ids: Iterable<string>): void {
    this.open = new Set(ids)
    this.runs = undefined
  }

  get opened(): string[] {
    return [...this.open]
  }

  isOpen(id: string): boolean {
    return this.open.has(id)
  }

  opens(id: string): boolean {
    const lane = this.known.get(id)
    return lane !== undefined && this.total(lane) > 0
  }

  get height(): number {
    this.layout()
    return this.tall
  }

  /** rows that touch a stretch from top to bottom. */
  rows(from: number, to: number): Row[] {
    const out: Row[] = []
    const runs = this.layout()
    for (let r = this.runAt(from); r < runs.length; r++) {
      const run = runs[r]!
      if (run.y >= to) break
      const first = Math.max(0, Math.floor((from - run.y) / run.h))
      const last = Math.min(run.count - 1, Math.ceil((to - run.y) / run.h) - 1)
      for (let i = first; i <= last; i++) out.push(this.rowOf(run, i))
    }
    return out
  }

  rowAt(y: number): Row | undefined {
    return y < 0 || y >= this.height ? undefined : this.rows(y, y + 0.01)[0]
  }

  /** row is where a lane is drawn, pinned or not; undefined when it is in none that is open. */
  row(id: string): Row | undefined {
    const lane = this.known.get(id)
    for (const run of this.layout()) {
      if (run.parent === PINNED) {
        const i = this.pins.indexOf(id)
        if (i >= run.first && i < run.first + run.count) return this.rowOf(run, i - run.first)
        continue
      }
      if (!lane) continue
      const index = run.parent === '' ? this.top.indexOf(id) : lane.parent === run.parent ? this.indexOf.get(id) : undefined
      if (index !== undefined && index >= run.first && index < run.first + run.count) return this.rowOf(run, index - run.first)
    }
    return undefined
  }

  /** step is the row so many rows further; the last when there are no more. */
  step(from: Row | undefined, by: number): Row | undefined {
    let y = from ? from.y : 0
    if (!from) return this.rowAt(0)
    let row: Row | undefined = from
    for (let i = 0; i < Math.abs(by); i++) {
      y = by > 0 ? row.y + row.h + 0.5 : row.y - 0.5
      const next: Row | undefined = this.rowAt(y)
      if (!next) return row
      row = next
    }
    return row
  }

  /** missing are the pages that rows in sight need. */
  missing(rows: Row[]): { parent: string; offset: number }[] {
    const pages = new Map<string, { parent: string; offset: number }>()
    for (const r of rows) {
      if (r.lane || r.parent === PINNED) continue
      const offset = Math.floor(r.index / PAGE) * PAGE
      pages.set(r.parent + ' ' + offset, { parent: r.parent, offset })
    }
    return [...pages.values()]
  }

  private place(parent: Lane, index: number, lane: Lane): void {
    this.known.set(lane.id, lane)
    this.kidsOf(parent).list[index] = lane
    this.indexOf.set(lane.id, index)
    this.runs = undefined
  }

  private kidsOf(lane: Lane): Kids {
    let kids = this.kids.get(lane.id)
    if (!kids) this.kids.set(lane.id, (kids = { total: lane.children, list: [] }))
    return kids
  }

  private total(lane: Lane): number {
    const kids = this.kids.get(lane.id)
    return Math.max(kids?.total ?? lane.children, 0)
  }

  private layout(): Run[] {
    if (this.runs) return this.runs
    const runs: Run[] = []
    let y = 0
    const add = (h: number, count: number, depth: number, parent: string, first: number, of: number): void => {
      const fits = Math.max(0, Math.min(count, Math.floor((MOST_HEIGHT - y) / h)))
      if (fits === 0) return
      runs.push({ y, h, count: fits, depth, parent, first, of })
      y += h * fits
    }
    const inside = (lane: Lane, depth: number): void => {
      if (!this.open.has(lane.id)) return
      const total = this.total(lane)
      const h = heightOf(childKind(lane.kind))
      // Children that are open themselves part the run.
      const parts = [...this.open]
        .map((id) => this.known.get(id))
        .filter((k): k is Lane => k !== undefined && k.parent === lane.id && this.indexOf.has(k.id))
        .sort((a, b) => this.indexOf.get(a.id)! - this.indexOf.get(b.id)!)
      let next = 0
      for (const kid of parts) {
        const at = this.indexOf.get(kid.id)!
        if (at >= total) continue
        add(h, at + 1 - next, depth, lane.id, next, total)
        inside(kid, depth + 1)
        next = at + 1
      }
      add(h, total - next, depth, lane.id, next, total)
    }
    this.top.forEach((id, i) => {
      const lane = this.known.get(id)!
      if (i === this.pinsBefore()) this.pins.forEach((p, k) => add(heightOf(this.kindOf(p)), 1, 0, PINNED, k, this.pins.length))
      add(heightOf(lane.kind), 1, 0, '', i, this.top.length)
      inside(lane, 1)
    })
    this.tall = y
    return (this.runs = runs)
  }

  // Pinned lanes stand below what concerns the whole program.
  private pinsBefore(): number {
    const i = this.top.findIndex((id) => !['line', 'gc', 'stw'].includes(this.known.get(id)!.kind))
    return i < 0 ? this.top.length - 1 : i
  }

  private kindOf(id: string): string {
    const kind = this.known.get(id)?.kind ?? kindOfId(id)
    return kind in HEIGHTS ? kind : 'go'
  }

  private runAt(y: number): number {
    const runs = this.layout()
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (runs[middle]!.y <= y) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }

  private rowOf(run: Run, i: number): Row {
    const index = run.first + i
    const lane =
      run.parent === PINNED
        ? this.known.get(this.pins[index]!)
        : run.parent === ''
          ? this.known.get(this.top[index]!)
          : this.kids.get(run.parent)?.list[index]
    const id = lane?.id ?? (run.parent === PINNED ? this.pins[index]! : `${run.parent}#${index}`)
    return { id, lane, parent: run.parent, depth: run.depth, y: run.y + i * run.h, h: run.h, index, of: run.of }
  }
}

/** The parent of rows that are pinned. */
export const PINNED = '*'

/** laneOfGoroutine is the id of a goroutine's lane; one id used twice has its birth behind it, and the server finds the first. */
export const laneOfGoroutine = (g: number): string => 'go:' + g

/** brief is a function's name without the path of its package: "worker.(*Pool).run". */
export function brief(name: string): string {
  const slash = name.lastIndexOf('/')
  return slash < 0 ? name : name.slice(slash + 1)
}
