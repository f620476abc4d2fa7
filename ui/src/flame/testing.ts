// Trees for tests: from lines of text, and random ones.
import type { Flame } from '../api'
import { fromColumns, nameOf, type Tree } from './tree'

/** A stack, root first, with its value and, after a slash, that of the base run. */
export type Line = [path: string, value: number, base?: number]

const OWNERS: Record<string, number> = { m: 0, d: 1, s: 2, r: 3, k: 4 }

/** What the server would send: a function's kind is by the first letter of its name. */
export function answer(lines: Line[]): Flame {
  interface Node { name: string; self: number; base: number; children: Map<string, Node> }
  const make = (name: string): Node => ({ name, self: 0, base: 0, children: new Map() })
  const root = make('')
  for (const [path, value, base] of lines) {
    let at = root
    for (const name of path.split(';')) {
      let next = at.children.get(name)
      if (!next) at.children.set(name, (next = make(name)))
      at = next
    }
    at.self += value
    at.base += base ?? 0
  }
  const compared = lines.some(([, , base]) => base !== undefined)
  const f: Flame = {
    kind: 'cpu', kinds: [], unit: 'nanoseconds', total: 0, names: [], files: [], func_kinds: [], parent: [], func: [], line: [],
    self: [], sum: [], base: [], left_nodes: 0, base_total: 0, ratio: 1, per_what: '', note: '', groups: [], labels: [],
  }
  const total = (n: Node, of: 'self' | 'base'): number => n[of] + [...n.children.values()].reduce((sum, c) => sum + total(c, of), 0)
  const walk = (n: Node, parent: number): void => {
    const i = f.parent.length
    let fn = f.names.indexOf(n.name)
    if (parent >= 0 && fn < 0) {
      fn = f.names.push(n.name) - 1
      f.files.push('/src/' + n.name + '.go')
      f.func_kinds.push(OWNERS[n.name[0] ?? ''] ?? 1)
    }
    f.parent.push(parent)
    f.func.push(parent < 0 ? -1 : fn)
    f.line.push(0)
    f.self.push(n.self)
    f.sum.push(total(n, 'self'))
    if (compared) f.base.push(total(n, 'base'))
    const children = [...n.children.values()]
    children.sort((a, b) => Math.max(total(b, 'self'), total(b, 'base')) - Math.max(total(a, 'self'), total(a, 'base')) || (a.name < b.name ? -1 : 1))
    for (const c of children) walk(c, i)
  }
  walk(root, -1)
  f.total = f.sum[0]!
  f.base_total = f.base[0] ?? 0
  return f
}

export function tree(...lines: Line[]): Tree {
  return fromColumns(answer(lines))
}

/** A tree as sums by path, like {"": 5, "/a": 5, "/a/b": 2}. */
export function sums(t: Tree): Record<string, number> {
  const out: Record<string, number> = {}
  const path: string[] = []
  for (let i = 0; i < t.n; i++) {
    path[i] = i === 0 ? '' : path[t.parent[i]!]! + '/' + nameOf(t, i)
    out[path[i]!] = t.sum[i]!
  }
  return out
}

/** Random numbers that are the same in every run. */
export function random(seed: number): (n: number) => number {
  let state = seed
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

/** Random stacks of few functions, so that they share paths and recur. */
export function bag(seed: number, n: number, compared = false): Line[] {
  const r = random(seed)
  const names = ['ma', 'mb', 'da', 'sa', 'ra', 'ka']
  return Array.from({ length: n }, () => {
    const path = Array.from({ length: 1 + r(6) }, () => names[r(names.length)]!).join(';')
    return compared ? [path, r(20), r(20)] : [path, 1 + r(20)]
  })
}
