// The flame graph of a fleet's stacks as the columns that the page draws.
import type { Flame } from '../api'
import type { Columns } from '../flame/tree'
import type { FlameAnswer, Node, Side } from './api'

/** Places in the list of kinds: whose a function is. */
const OWN = 0, STD = 2, RUNTIME = 3

/**
 * Whose a function is, by its name alone: nobody says which module a service is, so
 * that its own code and what it depends on are one kind.
 */
export function kindOf(name: string): number {
  if (/^(runtime|internal\/runtime)[./]/.test(name)) return RUNTIME
  const slash = name.indexOf('/')
  const first = slash < 0 ? name.slice(0, Math.max(0, name.indexOf('.'))) : name.slice(0, slash)
  // Packages of the standard library have no dot in the first part of their path.
  return first === '' || first === 'main' || first.includes('.') ? OWN : STD
}

/** By what the values of two sides can be compared, and what the base's are multiplied with. */
export function scaleOf(head: Side, base: Side): { ratio: number; per: 'operation' | 'second' | '' } {
  if (head.operations > 0 && base.operations > 0) return { ratio: head.operations / base.operations, per: 'operation' }
  if (head.covered_ns > 0 && base.covered_ns > 0) return { ratio: head.covered_ns / base.covered_ns, per: 'second' }
  return { ratio: 1, per: '' }
}

/**
 * The columns: children largest first. What was too small to be sent is in what its
 * caller has and its children do not. The base's values are scaled to as much work as
 * the head did.
 */
export function columnsOf(a: FlameAnswer, kind: string): Flame & Columns {
  const { ratio, per } = a.base ? scaleOf(a.head, a.base) : { ratio: 1, per: '' }
  const f: Flame & Columns & { base_self: number[] } = {
    kind, kinds: [], unit: a.unit, total: a.head.total, names: a.functions, files: a.files, func_kinds: a.functions.map(kindOf),
    parent: [], func: [], line: [], self: [], sum: [], base: [], base_self: [],
    left_nodes: 0, base_total: (a.base?.total ?? 0) * ratio, ratio, per_what: per, note: '', groups: [], labels: [],
  }
  const todo: [node: Node, parent: number][] = [[a.root, -1]]
  for (let next = todo.pop(); next; next = todo.pop()) {
    const [node, parent] = next
    const [func = -1, self = 0, sum = 0] = node as number[]
    if (func < -1) {
      f.left_nodes++
      continue
    }
    const i = f.parent.push(parent) - 1
    f.func.push(func)
    f.line.push(0)
    f.self.push(self)
    f.sum.push(sum)
    if (a.base) {
      f.base_self.push((node[3] as number) * ratio)
      f.base.push((node[4] as number) * ratio)
    }
    const children = node[a.base ? 5 : 3] as Node[] | undefined
    const size = (n: Node) => Math.max(n[2] as number, a.base ? (n[4] as number) * ratio : 0)
    // The last is taken first.
    for (const child of [...(children ?? [])].sort((x, y) => size(x) - size(y))) todo.push([child, i])
  }
  return f
}

/** Types of profiles by the names that the server has for them. */
const NAMES: Record<string, string> = {
  'process_cpu:cpu:nanoseconds:cpu:nanoseconds': 'cpu',
  'memory:alloc_objects:count:space:bytes': 'alloc_objects',
  'memory:alloc_space:bytes:space:bytes': 'alloc_space',
  'memory:inuse_objects:count:space:bytes': 'inuse_objects',
  'memory:inuse_space:bytes:space:bytes': 'inuse_space',
  'goroutines:goroutine:count:goroutine:count': 'goroutines',
  'mutex:contentions:count:contentions:count': 'mutex_count',
  'mutex:delay:nanoseconds:contentions:count': 'mutex_delay',
  'block:contentions:count:contentions:count': 'block_count',
  'block:delay:nanoseconds:contentions:count': 'block_delay',
}

/** Types without stacks. */
const PLAIN = 'operations:operations:count:operations:count'

/** The kinds of stacks that a service sent, CPU first. */
export function kindsOf(types: Iterable<string>): string[] {
  const order = Object.values(NAMES)
  const place = (k: string) => (order.indexOf(k) < 0 ? order.length : order.indexOf(k))
  return [...new Set(types)].filter((type) => type !== PLAIN).map((type) => NAMES[type] ?? type).sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
}
