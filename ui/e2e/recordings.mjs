// Makes what the page is tried with: recordings of sick programs, a traced
// benchmark, and files whose names are made to do harm. Nothing is taken from
// elsewhere, and all of it goes to a directory of its own.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
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

/**
 * Records until the recording is as it should be, and says each time that it is not: a
 * machine that others use may have kept a program from its illness. fault says of a
 * diagnosis what is wrong, or nothing. The last one is kept; what is wrong with it is
 * returned.
 */
export async function recordedWell(gowhy, file, record, fault, most = 3) {
  for (let tries = 1; ; tries++) {
    rmSync(file, { force: true })
    await record()
    const { stdout } = await run(gowhy, ['--format', 'json', file], { maxBuffer: 1 << 26 })
    const wrong = fault(JSON.parse(stdout))
    if (wrong === '' || tries === most) return wrong
    console.log(`again ${basename(file)}: ${wrong}`)
  }
}

/**
 * What is wrong with a diagnosis that should have a rule's finding, or it as what another
 * one explains, among at least so many findings; of no rule, any will do.
 */
function lacks(d, rule, least = 1) {
  const findings = d.findings ?? []
  const found = findings.flatMap((f) => [f, ...(f.symptoms ?? [])]).map((f) => f.rule)
  if (rule && !found.includes(rule)) return `nothing of ${rule} among ${found.length}: ${found.join(' ')}`
  return findings.length < least ? `${findings.length} findings` : ''
}

/** The gowhy command: of GOWHY, or built from this checkout. */
export async function command(dir) {
  if (process.env.GOWHY) return process.env.GOWHY
  const out = join(dir, 'gowhy')
  await run('go', ['build', '-o', out, './cmd/gowhy'], { cwd: repository })
  return out
}

/** Of a case with several findings, how many the walk needs: its index, and the keys between them. */
const FINDINGS = { oversubscribed: 2, healthy: 0 }

/** Recordings of the programs that are part of gowhy, by case. Many are called as the rule that finds them. */
export async function demos(gowhy, dir) {
  const { stdout } = await run(gowhy, ['demo', '--list'])
  const rules = (await run(gowhy, ['explain'])).stdout.split('\n').map((l) => l.split(' ')[0])
  const names = [...stdout.matchAll(/^(\w+)  /gm)].map((m) => m[1])
  const files = []
  for (const name of names) { // one at a time: each wants the machine for itself
    const file = join(dir, name + '.gowhy')
    const record = () => run(gowhy, ['demo', name, '--no-proof', '-o', file])
    files.push(await once(file, () => recordedWell(gowhy, file, record, (d) => lacks(d, rules.find((rule) => rule === name), FINDINGS[name]))))
  }
  return files
}

/** A recording of the pool with far more workers than processors. */
export async function filepool(gowhy, dir, name = 'filepool.gowhy') {
  const program = join(dir, 'filepool')
  const file = join(dir, name)
  await once(program, () => run('go', ['build', '-o', program, './filepool'], { cwd: join(repository, 'lab') }))
  const record = () => run(gowhy, ['record', '--no-diagnose', '-o', file, '--', program, '-dir', dir, '-tasks', '4000', '-size', '256KiB', '-workers', '1000'])
  return once(file, () => recordedWell(gowhy, file, record, (d) => lacks(d, 'oversubscribed')))
}

/** Habits by which something grows: that takes the three seconds that the program runs by itself. */
const GROWING = ['forgot', 'remember']

/** The one that keeps what it makes, whose heap is looked at as well. */
const HELD = 'remember'

/** Recordings of the lab's small illnesses, each at the flags that its truth names. */
export async function habits(gowhy, dir) {
  const program = join(dir, 'habits')
  const truth = readFileSync(join(repository, 'lab', 'habits', 'truth.yaml'), 'utf8')
  const files = []
  for (const [, rule, flags] of truth.matchAll(/^ +rule: (\w+)[^]*?^ +sick: \[(-habit, .*?)\]/gm)) {
    const args = flags.split(', ')
    if (!GROWING.includes(args[1])) args.push('-time', '2s')
    const file = join(dir, `habit-${args[1]}.gowhy`)
    const record = () => run(gowhy, ['record', '--no-diagnose', ...(args[1] === HELD ? ['--holders'] : []), '-o', file, '--', program, ...args])
    files.push(await once(file, async () => {
      if (!existsSync(program)) await run('go', ['build', '-o', program, './habits'], { cwd: join(repository, 'lab') })
      await recordedWell(gowhy, file, record, (d) => lacks(d, rule))
    }))
  }
  return files
}

/** Of the habits' recordings the one with looks at its heap. */
export function holder(files) {
  return files.find((f) => f.endsWith(`/habit-${HELD}.gowhy`))
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
// taken four times as long: to be compared with the first, from which that stands out
// even where the rounds differ as they do on a machine that others use.
function slower(file, out) {
  const result = JSON.parse(readFileSync(file, 'utf8'))
  const worse = (sample) => {
    for (const m of Object.keys(sample.values ?? {})) sample.values[m] *= m.endsWith('/s') ? 0.25 : 4
    sample.elapsed_ns *= 4
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
