// Writes profiles in pprof's format with names that no compiler would make: the
// Go toolchain cannot be talked into functions called "<script>".
import { gzipSync } from 'node:zlib'

/**
 * A CPU profile: stacks are lists of function names, leaf first, each sample with
 * a label. Field numbers are those of profile.proto.
 */
export function cpuProfile(stacks, label) {
  const strings = ['']
  const text = (s) => {
    const at = strings.indexOf(s)
    return at >= 0 ? at : strings.push(s) - 1
  }
  const names = [...new Set(stacks.flat())]
  const samples = stacks.map((stack, i) =>
    message(2, [
      ...stack.map((name) => number(1, names.indexOf(name) + 1)),
      number(2, i + 1),
      number(2, (i + 1) * 10_000_000),
      message(3, [number(1, text(label.key)), number(2, text(label.value))]),
    ]))
  const locations = names.map((_, i) =>
    message(4, [number(1, i + 1), number(3, 0x1000 + i), message(4, [number(1, i + 1), number(2, 42)])]))
  const functions = names.map((name, i) =>
    message(5, [number(1, i + 1), number(2, text(name)), number(3, text(name)), number(4, text(name + '.go'))]))
  const type = (field, what, unit) => message(field, [number(1, text(what)), number(2, text(unit))])
  const head = [type(1, 'samples', 'count'), type(1, 'cpu', 'nanoseconds')]
  const tail = [number(9, 1_700_000_000_000_000_000n), number(10, 1_000_000_000), type(11, 'cpu', 'nanoseconds'), number(12, 10_000_000)]
  const table = strings.map((s) => field(6, Buffer.from(s, 'utf8')))
  return gzipSync(Buffer.concat([...head, ...samples, ...locations, ...functions, ...table, ...tail]))
}

function varint(v) {
  const out = []
  for (let n = BigInt(v); ; n >>= 7n) {
    if (n < 0x80n) return Buffer.from([...out, Number(n)])
    out.push(Number(n & 0x7fn) | 0x80)
  }
}

const number = (id, v) => Buffer.concat([varint(id << 3), varint(v)])
const field = (id, bytes) => Buffer.concat([varint((id << 3) | 2), varint(bytes.length), bytes])
const message = (id, parts) => field(id, Buffer.concat(parts))
