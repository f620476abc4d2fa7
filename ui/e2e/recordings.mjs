// Makes what the page is tried with: recordings of sick programs, a traced
// benchmark, and files whose names are made to do harm. Nothing is taken from
// elsewhere, and all of it goes to a directory of its own.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cpuProfile } from './pprof.mjs'

const run = promisify(execFile)
export const repository = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

// What hostile names try. One that succeeds leaves window.owned behind.
const hostile = {
  html: '<img src=x onerror="window.owned=1"><script>window.owned=1</script>',
  escape: '\u001b[31mred\u001b[0m\u0007\u202e',
  long: 'L'.repeat(10 << 20),
}

// once makes what is not there: who keeps the directory need not wait again.
async function once(file, make) {
  if (!existsSync(file)) await make()
  return file
}

/** The gowhy command: of GOWHY, or built from this checkout. */
export async function command(dir) {
  if (process.env.GOWHY) return process.env.GOWHY
  const out = join(dir, 'gowhy')
  await run('go', ['build', '-o', out, './cmd/gowhy'], { cwd: repository })
  return out
}

/** Recordings of the programs that are part of gowhy, by case. */
export async function demos(gowhy, dir) {
  const { stdout } = await run(gowhy, ['demo', '--list'])
  const names = [...stdout.matchAll(/^(\w+)  /gm)].map((m) => m[1])
  const files = []
  for (const name of names) { // one at a time: each wants the machine for itself
    const file = join(dir, name + '.gowhy')
    files.push(await once(file, () => run(gowhy, ['demo', name, '--no-proof', '-o', file])))
  }
  return files
}

/** A recording of the pool with far more workers than processors. */
export async function filepool(gowhy, dir) {
  const program = join(dir, 'filepool')
  const file = join(dir, 'filepool.gowhy')
  await once(program, () => run('go', ['build', '-o', program, './filepool'], { cwd: join(repository, 'lab') }))
  return once(file, async () => {
    await run(gowhy, ['record', '--no-diagnose', '-o', file, '--', program, '-dir', dir, '-tasks', '4000', '-size', '256KiB', '-workers', '1000'])
  })
}

/** Habits by which something grows: that takes the three seconds that the program runs by itself. */
const GROWING = ['forgot', 'remember']

/** Recordings of the lab's small illnesses, each at the flags that its truth names. */
export async function habits(gowhy, dir) {
  const program = join(dir, 'habits')
  const truth = readFileSync(join(repository, 'lab', 'habits', 'truth.yaml'), 'utf8')
  const files = []
  for (const [, flags] of truth.matchAll(/^ +sick: \[(-habit, .*?)\]/gm)) {
    const args = flags.split(', ')
    if (!GROWING.includes(args[1])) args.push('-time', '2s')
    files.push(await once(join(dir, `habit-${args[1]}.gowhy`), async () => {
      if (!existsSync(program)) await run('go', ['build', '-o', program, './habits'], { cwd: join(repository, 'lab') })
      await run(gowhy, ['record', '--no-diagnose', '-o', join(dir, `habit-${args[1]}.gowhy`), '--', program, ...args])
    }))
  }
  return files
}

/** A recording of a program that keeps what it makes, with looks at its heap. */
export async function holder(gowhy, dir) {
  const file = join(dir, 'held.gowhy')
  return once(file, () => run(gowhy, ['record', '--holders', '--no-diagnose', '-o', file, '--', join(dir, 'habits'), '-habit', 'remember']))
}

/** Saved results of compare, tune and verify. */
export async function results(gowhy, dir, [a, b]) {
  const work = ['--', join(dir, 'filepool'), '-dir', dir, '-tasks', '100', '-size', '64KiB', '-workers', '{workers}']
  const commands = {
    'comparison.json': (file) => ['compare', a, b, '--format', 'json', '--output', file],
    'tuned.json': (file) => ['tune', '--knob', 'workers=1,4,16', '--no-trace', '-o', file, ...work],
    'trial.json': (file) => ['verify', '--knob', 'workers=200:2', '-o', file, ...work],
  }
  const files = []
  for (const [name, args] of Object.entries(commands)) {
    const file = join(dir, name)
    // A result that cannot be told is one as well, and the exit code says so.
    files.push(await once(file, () => run(gowhy, args(file)).catch((e) => existsSync(file) || Promise.reject(e))))
  }
  for (const name of ['trial.json', 'tuned.json']) files.push(slower(join(dir, name), join(dir, 'slower-' + name)))
  return files
}

// slower writes a result again as if its second arm, or all of its larger settings, had
// taken twice as long: to be compared with the first.
function slower(file, out) {
  const result = JSON.parse(readFileSync(file, 'utf8'))
  const worse = (sample) => {
    for (const m of Object.keys(sample.values ?? {})) sample.values[m] *= m.endsWith('/s') ? 0.5 : 2
    sample.elapsed_ns *= 2
  }
  for (const round of result.rounds ?? []) if (round.arm === 'B') worse(round)
  for (const curve of result.curves ?? []) for (const p of curve.points) if (p.value > 1) (p.visits ?? []).forEach(worse)
  writeFileSync(out, JSON.stringify(result))
  return out
}

/** A benchmark of net/http, traced and profiled as go test does it. */
export async function httpBenchmark(dir) {
  const [trace, cpu, mem] = ['http.trace', 'http-cpu.pprof', 'http-mem.pprof'].map((f) => join(dir, f))
  await once(trace, () => run('go', ['test', '-run', '^$', '-bench', '.', '-benchtime', '1s', '-trace', trace, '-cpuprofile', cpu, '-memprofile', mem,
    '-o', join(dir, 'http.test'), './ui/e2e/testdata/httpbench'], { cwd: repository }))
  return [trace, cpu, mem]
}

/** A dump of goroutines of which two hold what the other wants, and forty wait behind them. */
export function deadlock(dir) {
  const file = join(dir, 'deadlock.txt')
  const waits = (id, address, frames) => [`goroutine ${id} [sync.Mutex.Lock, 3 minutes]:`, 'internal/sync.runtime_SemacquireMutex(0x0?, 0x0?, 0x0?)', '\t/go/src/runtime/sema.go:95 +0x25',
    'internal/sync.(*Mutex).lockSlow(' + address + ')', '\t/go/src/internal/sync/mutex.go:149 +0x15d', 'internal/sync.(*Mutex).Lock(...)', '\t/go/src/internal/sync/mutex.go:70',
    'sync.(*Mutex).Lock(...)', '\t/go/src/sync/mutex.go:46', ...frames, ''].join('\n')
  const move = (id, from, to) => waits(id, to, [`main.(*account).move(${from}, ${to})`, '\t/bank/main.go:21 +0x65', 'created by main.main in goroutine 1', '\t/bank/main.go:40 +0x1d'])
  const report = (id) => waits(id, '0xc000010000', ['main.(*account).report(0xc000010000)', '\t/bank/main.go:33 +0x2f', 'created by main.main in goroutine 1', '\t/bank/main.go:44 +0x2d'])
  const rest = ['goroutine 1 [IO wait, 3 minutes]:', 'internal/poll.runtime_pollWait(0x7f0000, 0x72)', '\t/go/src/runtime/netpoll.go:351 +0x85', 'main.main()', '\t/bank/main.go:50 +0x11', ''].join('\n')
  writeFileSync(file, [rest, move(7, '0xc000010000', '0xc000310000'), move(8, '0xc000310000', '0xc000010000'), ...Array.from({ length: 40 }, (_, i) => report(100 + i))].join('\n'))
  return file
}

/** Files with names inside and outside that are made to do harm. */
export async function hostileFiles(dir) {
  const here = join(dir, 'hostile')
  await once(here, () => {
    mkdirSync(here)
    return run('go', ['run', './ui/e2e/testdata/hostile', here], { cwd: repository })
  })
  const names = [hostile.html, 'main.' + hostile.escape, hostile.long, 'javascript:window.owned=1', '</script><h1>owned</h1>', 'main.main']
  const stacks = names.map((_, i) => names.slice(i))
  const crafted = join(dir, '<img src=x onerror=window.owned=1>.pprof')
  writeFileSync(crafted, cpuProfile(stacks, { key: hostile.html, value: hostile.escape }))
  return { run: readdirSync(here).map((f) => join(here, f)), crafted, name: hostile.html }
}
