import { describe, expect, it } from 'vitest'
import { answer, bag, sums, tree, type Line } from './testing'
import { callees, callers, fromColumns, functions, inverted, KINDS, leftOut, outermost, pathTo, without, nameOf, type Tree } from './tree'

const named = (t: Tree, name: string): number => t.funcs.names.indexOf(name)

// sound fails on a tree that breaks what Tree promises.
function sound(t: Tree): void {
  const rest = Float64Array.from(t.sum, (v, i) => v - t.self[i]! - t.rest[i]!)
  for (let i = 1; i < t.n; i++) {
    const p = t.parent[i]!
    expect(p).toBeLessThan(i)
    expect(t.end[i]!).toBeLessThanOrEqual(t.end[p]!)
    expect(t.depth[i]).toBe(t.depth[p]! + 1)
    rest[p]! -= t.sum[i]!
  }
  for (const r of rest) expect(Math.abs(r)).toBeLessThan(1e-6)
  expect(t.rows).toBe(Math.max(...t.depth) + 1)
}

// brute adds up what a function takes part in, over stacks.
function brute(lines: Line[], of: (path: string[]) => boolean): number {
  return lines.reduce((sum, [path, v]) => sum + (of(path.split(';')) ? v : 0), 0)
}

describe('a tree from columns', () => {
  it('knows depths, ends and rows', () => {
    const t = tree(['ma;mb', 5], ['ma;mc;md', 3], ['mx', 1])
    sound(t)
    expect([...t.depth]).toEqual([0, 1, 2, 2, 3, 1])
    expect([...t.end]).toEqual([6, 5, 3, 5, 5, 6])
    expect(t.rows).toBe(4)
    expect(pathTo(t, 4).map((i) => nameOf(t, i))).toEqual(['', 'ma', 'mc', 'md'])
    expect(t.base).toBeNull()
  })
  it('keeps apart what was left out', () => {
    const t = tree(['ma;mb', 5])
    const cut = { ...t, sum: Float64Array.from([9, 7, 5]), rest: new Float64Array(3) }
    cut.rest.set([2, 2, 0])
    expect(leftOut(cut)).toBe(4)
    expect(without(cut, ['own']).sum[0]).toBe(9)
  })
  it('gives the base run its own values', () => {
    const t = tree(['ma;mb', 5, 2], ['ma', 1, 4])
    expect([...t.base!.self]).toEqual([0, 4, 2])
    expect([...t.base!.sum]).toEqual([6, 6, 2])
  })
})

describe('functions', () => {
  it('count a recursion once', () => {
    const rows = functions(tree(['ma;ma;mb;ma', 4], ['ma;mb', 2], ['mb', 1]))
    const by = Object.fromEntries(rows.map((r) => [r.func, [r.self, r.total]]))
    expect(by[0]).toEqual([4, 6])
    expect(by[1]).toEqual([3, 7])
  })
  it('are what brute force says', () => {
    for (let seed = 1; seed < 30; seed++) {
      const lines = bag(seed, 40)
      const t = tree(...lines)
      sound(t)
      for (const r of functions(t)) {
        const name = t.funcs.names[r.func]!
        expect(r.total).toBe(brute(lines, (p) => p.includes(name)))
        expect(r.self).toBe(brute(lines, (p) => p[p.length - 1] === name))
      }
    }
  })
  it('compare with the base run', () => {
    const rows = functions(tree(['ma;ma', 4, 1], ['ma', 0, 7]))
    expect(rows).toEqual([{ func: 0, self: 4, total: 4, baseSelf: 8, baseTotal: 8 }])
  })
})

describe('kinds that are merged into callers', () => {
  it('leave their values there', () => {
    const t = tree(['ma;ra;mb', 5], ['ma;mb', 2], ['ma;ra', 3], ['ra;ra', 1])
    expect(sums(without(t, ['runtime']))).toEqual({ '': 11, '/ma': 10, '/ma/mb': 7 })
    expect(without(t, [])).toBe(t)
  })
  it('are what brute force says', () => {
    for (let seed = 1; seed < 20; seed++) {
      const lines = bag(seed, 50)
      const hidden = [KINDS[seed % 5]!, KINDS[(seed * 3) % 5]!]
      const off = new Set(hidden.map((k) => k[0] === 'o' ? 'm' : k[0]))
      const merged = lines.map(([path, v]): Line => [path.split(';').filter((f) => !off.has(f[0]!)).join(';'), v])
      const got = without(tree(...lines), hidden)
      sound(got)
      const want: Record<string, number> = {}
      for (const [path, v] of merged) {
        let at = ''
        want[at] = (want[at] ?? 0) + v
        for (const f of path === '' ? [] : path.split(';')) {
          at += '/' + f
          want[at] = (want[at] ?? 0) + v
        }
      }
      expect(sums(got)).toEqual(want)
    }
  })
})

describe('the sandwich', () => {
  it('has callers above and callees below', () => {
    const t = tree(['ma;mf;mx', 5], ['mb;mf;mx', 2], ['mb;mf;my', 1], ['ma;mz', 9])
    const f = named(t, 'mf')
    expect(sums(callers(t, f))).toEqual({ '': 8, '/ma': 5, '/mb': 3 })
    expect(sums(callees(t, f))).toEqual({ '': 8, '/mx': 7, '/my': 1 })
  })
  it('counts a recursion once, in both halves', () => {
    const t = tree(['ma;mf;mb;mf;mc', 5], ['mf;mf', 3], ['ma;mf', 1])
    const f = named(t, 'mf')
    expect(sums(callers(t, f))).toEqual({ '': 9, '/ma': 6 })
    expect(sums(callees(t, f))).toEqual({ '': 9, '/mb': 5, '/mb/mf': 5, '/mb/mf/mc': 5, '/mf': 3 })
  })
  it('is what brute force says', () => {
    for (let seed = 1; seed < 20; seed++) {
      const lines = bag(seed, 40, true)
      const t = tree(...lines)
      for (let f = 0; f < t.funcs.names.length; f++) {
        const name = t.funcs.names[f]!
        const up = callers(t, f), down = callees(t, f)
        sound(up)
        sound(down)
        const total = brute(lines, (p) => p.includes(name))
        expect(up.sum[0]).toBe(total)
        expect(down.sum[0]).toBe(total)
        expect(up.func[0]).toBe(f)
        expect(down.base!.sum[0]).toBe(up.base!.sum[0])
        for (const [path, v] of Object.entries(sums(up))) {
          if (path === '') continue
          const above = path.slice(1).split('/').reverse()
          expect(v).toBe(brute(lines, (p) => {
            const at = p.indexOf(name)
            return at >= above.length && above.every((g, k) => p[at - above.length + k] === g)
          }))
        }
      }
    }
  })
})

describe('a tree upside down', () => {
  it('begins with what had the value', () => {
    expect(sums(inverted(tree(['ma;mb', 5], ['mc;mb', 2], ['ma', 1])))).toEqual({ '': 8, '/mb': 7, '/mb/ma': 5, '/mb/mc': 2, '/ma': 1 })
  })
  it('is what brute force says', () => {
    const lines = bag(77, 200)
    const got = inverted(tree(...lines))
    sound(got)
    const again = tree(...lines.map(([path, v]): Line => [path.split(';').reverse().join(';'), v]))
    expect(sums(got)).toEqual(sums(again))
  })
  it('has no more than a page can bear of a hostile one', () => {
    const t = comb(2000, 60)
    const got = inverted(t)
    expect(got.sum[0]).toBe(t.sum[0])
    expect(got.rows).toBeLessThan(200)
    expect(got.n).toBeLessThan(8e6)
  })
})

// A chain of calls with as many leaves at each: every leaf is as deep as its place.
function comb(deep: number, leaves: number): Tree {
  const a = { ...answer([['ma', 1]]), names: ['ma', 'mb'], files: ['', ''], func_kinds: [0, 0] }
  const parent = [-1], func = [-1], self = [0]
  for (let d = 0, at = 0; d < deep; d++) {
    const next = parent.push(at) - 1
    func.push(d % 2)
    self.push(0)
    for (let k = 0; k < leaves; k++) {
      parent.push(next)
      func.push(k % 2)
      self.push(1)
    }
    at = next
  }
  const sum = [...self]
  for (let i = parent.length - 1; i > 0; i--) sum[parent[i]!]! += sum[i]!
  return fromColumns({ ...a, parent, func, self, sum, line: parent.map(() => 0) })
}

describe('outermost', () => {
  it('finds no node inside another', () => {
    const t = tree(['ma;ma', 1], ['mb;ma', 2])
    expect(outermost(t, (f) => f === named(t, 'ma')).map((i) => t.sum[i])).toEqual([2, 1])
  })
})
