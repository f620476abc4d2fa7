// Searching functions by their names, and what those that match add up to.
import { outermost, type Tree } from './tree'

export interface Query {
  /** Whether a name matches; null when nothing is searched for. */
  test: ((name: string) => boolean) | null
  /** Why the query is none; "" when it is one. */
  wrong: string
}

/** Reads what was typed: a text in any case, or /a regular expression/, or /one/i. */
export function readQuery(q: string): Query {
  if (q === '') return { test: null, wrong: '' }
  const form = /^\/(.+)\/(i?)$/s.exec(q)
  if (!form) {
    const text = q.toLowerCase()
    return { test: (name) => name.toLowerCase().includes(text), wrong: '' }
  }
  try {
    const re = new RegExp(form[1]!, 'u' + form[2]!)
    return { test: (name) => re.test(name), wrong: '' }
  } catch (e) {
    return { test: null, wrong: e instanceof Error ? e.message : String(e) }
  }
}

export interface Found {
  /** For each function, 1 when it matches. */
  match: Uint8Array
  functions: number
  nodes: number
  /** What they and all they call have, nothing counted twice. */
  sum: number
  base: number
}

/** Looks for functions in the part of a tree below a node. */
export function search(t: Tree, test: (name: string) => boolean, below = 0): Found {
  const match = Uint8Array.from(t.funcs.names, (name) => (test(name) ? 1 : 0))
  const seen = new Uint8Array(match.length)
  const f: Found = { match, functions: 0, nodes: 0, sum: 0, base: 0 }
  for (let i = below; i < (t.end[below] ?? 0); i++) {
    const fn = t.func[i]!
    if (fn < 0 || !match[fn]) continue
    f.nodes++
    f.functions += 1 - seen[fn]!
    seen[fn] = 1
  }
  // A node below another that matches is inside of it.
  for (let at = t.parent[below] ?? -1; at >= 0; at = t.parent[at]!) {
    if (match[t.func[at]!]) return { ...f, sum: t.sum[below]!, base: t.base?.sum[below] ?? 0 }
  }
  for (const i of outermost(t, (fn) => match[fn] === 1)) {
    if (i < below || i >= t.end[below]!) continue
    f.sum += t.sum[i]!
    f.base += t.base?.sum[i] ?? 0
  }
  return f
}

/** The next node that matches, from one on, in the order of drawing; -1 when none does. */
export function nextMatch(t: Tree, match: Uint8Array, from: number, by: 1 | -1): number {
  for (let k = 1; k <= t.n; k++) {
    const i = (((from + by * k) % t.n) + t.n) % t.n
    const f = t.func[i]!
    if (f >= 0 && match[f]) return i
  }
  return -1
}
