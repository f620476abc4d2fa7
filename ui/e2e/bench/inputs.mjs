// What is measured: the commands, traces and a profile with a large tree, made
// once and kept in bench/tmp, which is not committed.
import { execFile } from 'node:child_process'
import { createReadStream, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cpuProfile } from '../pprof.mjs'

const exec = promisify(execFile)
export const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const kept = join(repository, 'bench', 'tmp')

/** Runs a command in the checkout and returns what it printed. */
export async function run(command, args) {
  const { stdout } = await exec(command, args, { cwd: repository, maxBuffer: 64 << 20 })
  return stdout.trim()
}

/** The commands: gowhy and the benchmark's own, built from this checkout, and Go's trace viewer. */
export async function commands() {
  mkdirSync(kept, { recursive: true })
  const built = async (name, from) => {
    const out = join(kept, name)
    await run('go', ['build', '-o', out, from])
    return out
  }
  return {
    gowhy: process.env.GOWHY || (await built('gowhy', './cmd/gowhy')),
    bench: await built('bench', './bench'),
    // Its own binary, so that the go command's work is not added to it.
    tool: await run('go', ['tool', '-n', 'trace']),
    go: await run('go', ['env', 'GOVERSION']),
  }
}

// once makes a file under another name first: one that is half written is none.
async function once(path, make) {
  if (existsSync(path)) return
  console.error(`making ${path}`)
  await make(path + '.part')
  renameSync(path + '.part', path)
}

/** A trace of so many MB, made by the benchmark's own programs. */
export async function trace(bench, kind, mb, go) {
  const name = `${kind}-${mb}`
  const path = join(kept, `${name}-${go}.trace`)
  await once(path, (to) => run(bench, ['-generate', kind, '-size', String(mb * 1e6), to]))
  await once(path + '.json', async (to) => writeFileSync(to, await run(bench, ['-run', 'gowhy', path])))
  await warm(path)
  return { name, mb, path, bytes: statSync(path).size, events: JSON.parse(readFileSync(path + '.json', 'utf8')).events ?? 0 }
}

// warm reads a file once, so that whoever comes first does not pay for the disk.
async function warm(path) {
  for await (const _ of createReadStream(path, { highWaterMark: 1 << 20 }));
}

/** Random numbers below n that are the same every time. */
export function random(seed) {
  let a = seed >>> 0
  return (n) => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = a
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n)
  }
}

const FUNCTIONS = 500
const DEEPEST = 48

/** A CPU profile whose stacks make a tree of at least so many nodes. */
export async function largeProfile(nodes) {
  const path = join(kept, `tree-${nodes}.pprof`)
  await once(path, async (to) => writeFileSync(to, cpuProfile(stacksOf(nodes), { key: 'made', value: 'for the benchmark' })))
  return path
}

// stacksOf leaves the stack before at some depth and goes on another way, as
// samples of one program do.
function stacksOf(nodes) {
  const pick = random(175)
  const known = new Map() // a node by the one that calls it and its function
  const stacks = []
  let path = []
  while (known.size < nodes) {
    path = path.slice(0, pick(path.length + 1))
    const depth = Math.min(DEEPEST, path.length + 1 + pick(16))
    while (path.length < depth) {
      const f = pick(FUNCTIONS)
      const key = `${path.at(-1)?.node ?? 'root'} ${f}`
      if (!known.has(key)) known.set(key, known.size)
      path.push({ node: known.get(key), name: `example.org/made/part${f % 20}.function${f}` })
    }
    stacks.push(path.map((p) => p.name).reverse()) // leaf first
  }
  return stacks
}
