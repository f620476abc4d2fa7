// Trees of stacks in columns, and the trees that are made from them: without
// functions of some kinds, upside down, of one function's callers, of what it
// calls. The server sends one tree; everything a reader does with it happens here.
import type { Flame, Marks } from '../api'

/**
 * A tree, nodes in the order in which they are drawn: a node's parent is before
 * it, what is below it follows it up to `end`. sum = self + rest + the sums of
 * the children; rest is of children that were left out.
 */
export interface Tree {
  n: number
  /** -1 for the root. */
  parent: Int32Array
  /** Index in funcs; -1 for a root that stands for everything. */
  func: Int32Array
  line: Int32Array
  depth: Int32Array
  /** The first node behind all that is below this one. */
  end: Int32Array
  self: Float64Array
  rest: Float64Array
  sum: Float64Array
  /** What the base run had; null without one. Where marked, what of sum is marked. */
  base: Base | null
  marked: boolean
  funcs: Funcs
  /** Rows that it takes to draw, the root's among them. */
  rows: number
}

export interface Base {
  self: Float64Array
  rest: Float64Array
  sum: Float64Array
}

/** The functions that nodes are of. */
export interface Funcs {
  names: string[]
  files: string[]
  /** Whose it is: index in KINDS. */
  kinds: Uint8Array
}

/** Whose functions are, in the server's order. */
export const KINDS = ['own', 'dep', 'std', 'runtime', 'kernel'] as const
export type FrameKind = (typeof KINDS)[number]

/** What a tree is compared with; null where there is none, or marks in its place. */
export function compared(t: Tree): Base | null {
  return t.marked ? null : t.base
}

/** Columns of a tree, as a server sends them. */
export type Columns = Pick<Flame, 'parent' | 'func' | 'line' | 'self' | 'sum' | 'base' | 'names' | 'files' | 'func_kinds'> & {
  /** Where they are known; else they are what the children do not have. */
  base_self?: readonly number[]
}

/** The tree that the server sent, with some of it marked. */
export function fromColumns(f: Columns, marks?: Marks): Tree {
  const n = f.parent.length
  const t = columns(n, {
    names: f.names,
    files: f.files,
    kinds: Uint8Array.from(f.func_kinds, (k) => Math.min(Math.max(k, 0), KINDS.length - 1)),
  })
  t.parent.set(f.parent)
  t.func.set(f.func)
  t.line.set(f.line)
  t.self.set(f.self)
  t.sum.set(f.sum)
  measure(t)
  fillRest(t, t)
  const hasBase = f.base.length === n && n > 0
  if (hasBase || (marks && marks.nodes.length > 0)) {
    const base = { self: new Float64Array(n), rest: new Float64Array(n), sum: new Float64Array(n) }
    if (hasBase) base.sum.set(f.base)
    else marks?.nodes.forEach((i, k) => { base.sum[i] = marks.sums[k] ?? 0 })
    t.marked = !hasBase
    if (f.base_self) base.self.set(f.base_self)
    fillRest(t, base)
    if (!f.base_self) {
      base.self.set(base.rest)
      base.rest.fill(0)
    }
    t.base = base
  }
  return t
}

function columns(n: number, funcs: Funcs): Tree {
  return {
    n, funcs, rows: 0, base: null, marked: false,
    parent: new Int32Array(n), func: new Int32Array(n), line: new Int32Array(n), depth: new Int32Array(n), end: new Int32Array(n),
    self: new Float64Array(n), rest: new Float64Array(n), sum: new Float64Array(n),
  }
}

/** measure fills what follows from the parents: depth, end, rows. */
function measure(t: Tree): void {
  let rows = t.n > 0 ? 1 : 0
  for (let i = 0; i < t.n; i++) {
    const p = t.parent[i]!
    const d = p < 0 ? 0 : t.depth[p]! + 1
    t.depth[i] = d
    t.end[i] = i + 1
    if (d >= rows) rows = d + 1
  }
  for (let i = t.n - 1; i > 0; i--) {
    const p = t.parent[i]!
    if (t.end[p]! < t.end[i]!) t.end[p] = t.end[i]!
  }
  t.rows = rows
}

function fillRest(t: Tree, v: Base): void {
  for (let i = 0; i < t.n; i++) v.rest[i] = v.sum[i]! - v.self[i]!
  for (let i = 1; i < t.n; i++) v.rest[t.parent[i]!]! -= v.sum[i]!
  // Rounding of scaled values may leave a hair below zero.
  for (let i = 0; i < t.n; i++) if (v.rest[i]! < 0) v.rest[i] = 0
}

/** What is left out of a tree, in all: too small to be sent. */
export function leftOut(t: Tree): number {
  let sum = 0
  for (let i = 0; i < t.n; i++) sum += t.rest[i]!
  return sum
}

/** The name of a node, "" for a root that stands for everything. */
export function nameOf(t: Tree, i: number): string {
  const f = t.func[i]!
  return f < 0 ? '' : (t.funcs.names[f] ?? '')
}

/** The deepest node that has all that is marked; -1 without marks. */
export function holdsMarks(t: Tree): number {
  if (!t.marked || !t.base) return -1
  const all = t.base.sum[0]!
  let at = 0
  for (let i = 1; i < t.n; i++) if (t.parent[i] === at && t.base.sum[i]! >= all * (1 - 1e-9)) at = i
  return at
}

/** Nodes from the root to one, itself the last. */
export function pathTo(t: Tree, i: number): number[] {
  const path: number[] = []
  for (let at = i; at >= 0; at = t.parent[at]!) path.push(at)
  return path.reverse()
}

/**
 * The nodes of functions that match, without those inside another that does:
 * their sums add up to what the matches have, a recursion counted once.
 */
export function outermost(t: Tree, match: (func: number) => boolean): number[] {
  const found: number[] = []
  for (let i = 0; i < t.n;) {
    const f = t.func[i]!
    if (f >= 0 && match(f)) {
      found.push(i)
      i = t.end[i]!
    } else {
      i++
    }
  }
  return found
}

// A Grower makes a tree from nodes that come in any order. It finds the child of a
// node by its function in a table with open addressing: a Map of numbers would be
// most of the time that a tree takes.
class Grower {
  private n = 1
  private parent = new Int32Array(1024)
  private func = new Int32Array(1024)
  private line = new Int32Array(1024)
  private values: Float64Array[]
  private slots = new Int32Array(4096)
  private funcs: Funcs
  private hasBase: boolean
  private marked: boolean

  constructor(t: Tree, rootFunc: number) {
    this.funcs = t.funcs
    this.hasBase = t.base !== null
    this.marked = t.marked
    this.values = Array.from({ length: this.hasBase ? 4 : 2 }, () => new Float64Array(1024))
    this.parent[0] = -1
    this.func[0] = rootFunc
  }

  child(parent: number, func: number, line: number): number {
    let at = this.slot(parent, func)
    const known = this.slots[at]!
    if (known !== 0) return known
    if (this.n * 2 > this.slots.length) {
      this.rehash()
      at = this.slot(parent, func)
    }
    if (this.n === this.parent.length) this.grow()
    const i = this.n++
    this.slots[at] = i
    this.parent[i] = parent
    this.func[i] = func
    this.line[i] = line
    return i
  }

  /** Adds values of a node of the tree that this one is made from. */
  add(at: number, t: Tree, i: number): void {
    this.values[0]![at]! += t.self[i]!
    this.values[1]![at]! += t.rest[i]!
    if (!t.base) return
    this.values[2]![at]! += t.base.self[i]!
    this.values[3]![at]! += t.base.rest[i]!
  }

  /** Adds values to a node: what is its own, and what nobody can say where below. */
  put(at: number, self: number, rest: number, baseSelf: number, baseRest: number): void {
    this.values[0]![at]! += self
    this.values[1]![at]! += rest
    if (!this.hasBase) return
    this.values[2]![at]! += baseSelf
    this.values[3]![at]! += baseRest
  }

  /** The tree, children largest first. */
  done(): Tree {
    const n = this.n
    const sum = this.sums(0)
    const baseSum = this.hasBase ? this.sums(2) : null
    const size = Float64Array.from(sum, (v, i) => Math.max(v, baseSum && !this.marked ? baseSum[i]! : 0))
    const order = this.order(size)
    const t = columns(n, this.funcs)
    t.marked = this.marked
    if (baseSum) t.base = { self: new Float64Array(n), rest: new Float64Array(n), sum: new Float64Array(n) }
    const renamed = new Int32Array(n)
    order.forEach((old, i) => {
      renamed[old] = i
      t.parent[i] = old === 0 ? -1 : renamed[this.parent[old]!]!
      t.func[i] = this.func[old]!
      t.line[i] = this.line[old]!
      t.self[i] = this.values[0]![old]!
      t.rest[i] = this.values[1]![old]!
      t.sum[i] = sum[old]!
      if (t.base && baseSum) {
        t.base.self[i] = this.values[2]![old]!
        t.base.rest[i] = this.values[3]![old]!
        t.base.sum[i] = baseSum[old]!
      }
    })
    measure(t)
    return t
  }

  // Children have higher numbers than their parents, in the order of their making.
  private sums(column: number): Float64Array {
    const sum = new Float64Array(this.n)
    for (let i = 0; i < this.n; i++) sum[i] = this.values[column]![i]! + this.values[column + 1]![i]!
    for (let i = this.n - 1; i > 0; i--) sum[this.parent[i]!]! += sum[i]!
    return sum
  }

  private order(size: Float64Array): Int32Array {
    const { n, parent, func } = this
    const names = this.funcs.names
    const sorted = new Int32Array(n - 1)
    for (let i = 1; i < n; i++) sorted[i - 1] = i
    sorted.sort((a, b) => {
      if (parent[a] !== parent[b]) return parent[a]! - parent[b]!
      if (size[a] !== size[b]) return size[b]! - size[a]!
      const x = names[func[a]!] ?? '', y = names[func[b]!] ?? ''
      return x < y ? -1 : x > y ? 1 : func[a]! - func[b]!
    })
    const from = new Int32Array(n + 1)
    for (let i = 1; i < n; i++) from[parent[i]! + 1]!++
    for (let i = 0; i < n; i++) from[i + 1]! += from[i]!
    const order = new Int32Array(n)
    const todo = [0]
    for (let k = 0; todo.length > 0; k++) {
      const i = todo.pop()!
      order[k] = i
      for (let c = from[i + 1]! - 1; c >= from[i]!; c--) todo.push(sorted[c]!)
    }
    return order
  }

  private slot(parent: number, func: number): number {
    const mask = this.slots.length - 1
    let h = Math.imul(parent, 0x9e3779b1) ^ Math.imul(func, 0x85ebca6b)
    h ^= h >>> 15
    for (let at = h & mask; ; at = (at + 1) & mask) {
      const i = this.slots[at]!
      if (i === 0 || (this.parent[i] === parent && this.func[i] === func)) return at
    }
  }

  private rehash(): void {
    this.slots = new Int32Array(this.slots.length * 2)
    for (let i = 1; i < this.n; i++) this.slots[this.slot(this.parent[i]!, this.func[i]!)] = i
  }

  private grow(): void {
    const wider = <A extends Int32Array | Float64Array>(old: A): A => {
      const next = new (old.constructor as { new (n: number): A })(old.length * 2)
      next.set(old as never)
      return next
    }
    this.parent = wider(this.parent)
    this.func = wider(this.func)
    this.line = wider(this.line)
    this.values = this.values.map(wider)
  }
}

/**
 * The tree without functions of some kinds: what they have is their callers'.
 * Only the root may have what nobody calls.
 */
export function without(t: Tree, hidden: readonly FrameKind[]): Tree {
  if (hidden.length === 0 || t.n === 0) return t
  const off = KINDS.map((k) => hidden.includes(k))
  const g = new Grower(t, t.func[0]!)
  const at = new Int32Array(t.n)
  g.add(0, t, 0)
  for (let i = 1; i < t.n; i++) {
    const p = at[t.parent[i]!]!
    at[i] = off[t.funcs.kinds[t.func[i]!] ?? 0] ? p : g.child(p, t.func[i]!, t.line[i]!)
    g.add(at[i]!, t, i)
  }
  return g.done()
}

/** What a function calls: everything below its outermost calls. The root is the function. */
export function callees(t: Tree, func: number): Tree {
  const g = new Grower(t, func)
  const at = new Int32Array(t.n)
  for (const top of outermost(t, (f) => f === func)) {
    g.add(0, t, top)
    for (let i = top + 1; i < t.end[top]!; i++) {
      at[i] = g.child(t.parent[i] === top ? 0 : at[t.parent[i]!]!, t.func[i]!, t.line[i]!)
      g.add(at[i]!, t, i)
    }
  }
  return g.done()
}

/** The steps that one upside-down tree may take: of a hostile one they are limited, not the page. */
const STEPS = 8e6

/** Who calls a function: from its outermost calls up. The root is the function. */
export function callers(t: Tree, func: number): Tree {
  const tops = outermost(t, (f) => f === func)
  const g = new Grower(t, func)
  const most = Math.max(16, Math.floor(STEPS / Math.max(1, tops.length)))
  for (const top of tops) climb(g, t, t.parent[top]!, 0, most, t.sum[top]!, t.base?.sum[top] ?? 0)
  return g.done()
}

/** The tree upside down: from what had the value itself to who called it. */
export function inverted(t: Tree): Tree {
  const g = new Grower(t, -1)
  let leaves = 0
  for (let i = 0; i < t.n; i++) if (t.self[i]! > 0 || (t.base && t.base.self[i]! > 0)) leaves++
  const most = Math.max(16, Math.floor(STEPS / Math.max(1, leaves)))
  for (let i = 0; i < t.n; i++) {
    // Of what was left out nobody knows the function.
    g.put(0, 0, t.rest[i]!, 0, t.base?.rest[i] ?? 0)
    const self = t.self[i]!, base = t.base?.self[i] ?? 0
    if (self > 0 || base > 0) climb(g, t, i, 0, most, self, base)
  }
  return g.done()
}

function climb(g: Grower, t: Tree, from: number, at: number, most: number, value: number, base: number): void {
  for (let i = from; i >= 0 && t.func[i]! >= 0 && most > 0; i = t.parent[i]!, most--) {
    at = g.child(at, t.func[i]!, t.line[i]!)
  }
  g.put(at, value, 0, base, 0)
}

/** A function in all its places. */
export interface FuncRow {
  func: number
  self: number
  total: number
  baseSelf: number
  baseTotal: number
}

/**
 * Every function with what it has itself and together with what it calls. A
 * function inside itself counts once.
 */
export function functions(t: Tree): FuncRow[] {
  const rows = new Map<number, FuncRow>()
  const open = new Int32Array(t.funcs.names.length)
  const path: number[] = []
  for (let i = 0; i < t.n; i++) {
    while (path.length > 0 && t.end[path[path.length - 1]!]! <= i) open[t.func[path.pop()!]!]!--
    const f = t.func[i]!
    if (f < 0) continue
    let row = rows.get(f)
    if (!row) rows.set(f, (row = { func: f, self: 0, total: 0, baseSelf: 0, baseTotal: 0 }))
    row.self += t.self[i]!
    row.baseSelf += t.base?.self[i] ?? 0
    if (open[f]! === 0) {
      row.total += t.sum[i]!
      row.baseTotal += t.base?.sum[i] ?? 0
    }
    open[f]!++
    path.push(i)
  }
  return [...rows.values()]
}
