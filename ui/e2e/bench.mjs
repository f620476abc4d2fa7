// How fast the page is, and in how much memory: the first picture, the hand on
// the timeline, tiles, the flame graph, and the same beside go tool trace. Writes
// bench/runs/DATE-page-MACHINE/.
//
//   node ui/e2e/bench.mjs                 the traces that the bars are of; some minutes
//   node ui/e2e/bench.mjs -size small     a look, written nowhere
//
//   -size full|small  -rounds N  -kind KIND of trace  -o DIR where the run's
//   directory is made, '' for nowhere.  GOWHY=… a binary, CHROMIUM=… a browser
//
// It wants a machine with nothing else to do, and says so when it has not.
import { execFileSync } from 'node:child_process'
import { isAbsolute, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { loads, thisMachine } from './bench/machine.mjs'

/** Sizes in MB, and which of them go tool trace is compared on: it needs minutes for larger ones. */
const SIZES = {
  full: { mb: [5, 50, 460], peer: 50, nodes: 175_000, rounds: 3, out: 'bench/runs' },
  small: { mb: [5, 20], peer: 5, nodes: 175_000, rounds: 5, out: '' },
}

class Wanting extends Error {}

function options() {
  const o = { size: { type: 'string' }, rounds: { type: 'string' }, kind: { type: 'string' }, o: { type: 'string' }, help: { type: 'boolean' } }
  // Flags of Go's kind, as those of the benchmark beside.
  const args = process.argv.slice(2).map((a) => a.replace(/^-(?=[a-z]{2})/, '--'))
  let given
  try {
    given = parseArgs({ args, options: { ...o, o: { type: 'string', short: 'o' }, help: { type: 'boolean', short: 'h' } } }).values
  } catch (e) {
    throw new Wanting(`${e.message}; node ui/e2e/bench.mjs -help tells the flags`)
  }
  if (given.help) return undefined
  const size = given.size ?? 'full'
  if (!SIZES[size]) throw new Wanting(`-size ${size}: it is full or small`)
  const rounds = Number(given.rounds ?? SIZES[size].rounds)
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) throw new Wanting(`-rounds ${given.rounds}: a number from 1 on`)
  return { ...SIZES[size], size, rounds, kind: given.kind ?? 'channels', out: given.o ?? SIZES[size].out }
}

// browsers is how to start one; what is missing is told before minutes are spent.
async function browsers() {
  if (process.platform !== 'linux') throw new Wanting('memory and other work on the machine are read from /proc: run it on Linux')
  if (!process.env.CHROMIUM) {
    try {
      execFileSync('which', ['chromium'], { stdio: 'pipe' })
    } catch {
      throw new Wanting('there is no chromium in PATH; install it (Debian: apt-get install chromium), or name a browser with CHROMIUM=…')
    }
  }
  try {
    const { launch } = await import('./browser.mjs')
    const b = await launch()
    const version = b.version()
    await b.close()
    return { launch, version: `Chromium ${version}` }
  } catch (e) {
    if (e.code === 'ERR_MODULE_NOT_FOUND' || e.code === 'MODULE_NOT_FOUND') throw new Wanting(`${e.message.split('\n')[0]}; install what the page is tried with: npm ci --prefix ui`)
    throw new Wanting(`the browser does not start: ${e.message.split('\n')[0]}; does ${process.env.CHROMIUM ?? 'chromium'} --headless --no-sandbox --dump-dom about:blank work?`)
  }
}

async function main() {
  const o = options()
  if (!o) return help()
  const { launch, version } = await browsers()
  const { commands, largeProfile, repository, run, trace } = await import('./bench/inputs.mjs')
  const { flame, look, opened, peer, tiles } = await import('./bench/measures.mjs')
  const { bars, ratios, report, save } = await import('./bench/report.mjs')

  let programs
  try {
    programs = await commands()
  } catch (e) {
    throw new Wanting(`building the commands: ${(e.stderr || e.message).trim()}\nis go in PATH, and does the checkout build?`)
  }
  const traces = []
  for (const mb of o.mb) traces.push(await trace(programs.bench, o.kind, mb, programs.go))
  const profile = await largeProfile(o.nodes)

  const begin = { at: performance.now(), load: loads() }
  if (begin.load[0] > 0.5) console.error(`the load average is ${begin.load[0]}: figures are good on a machine with nothing else to do`)
  const result = {
    schema: 1, date: new Date().toISOString().slice(0, 10), size: o.size, kind: o.kind, rounds: o.rounds,
    machine: thisMachine(programs.go), browser: version,
    commit: await run('git', ['rev-parse', '--short=12', 'HEAD']), changed: (await run('git', ['status', '--porcelain'])) !== '',
    command: ['node ui/e2e/bench.mjs', ...process.argv.slice(2)].join(' '),
    traces: traces.map(({ name, bytes, events }) => ({ name, bytes, events })),
    looks: [], tiles: [], flame: [], peers: { trace: `${o.kind}-${o.peer}`, ours: [], theirs: [] },
  }
  const told = (text) => console.error(`${((performance.now() - begin.at) / 1000).toFixed(0).padStart(4)} s  ${text}`)
  const compared = traces.find((t) => t.mb === o.peer)
  for (let round = 0; round < o.rounds; round++) {
    for (const t of traces) {
      const { lanes, ...seen } = await look(launch, programs.gowhy, t)
      result.looks.push({ trace: t.name, round, ...seen })
      told(`${t.name}: first picture ${ms(seen.first_picture_ms)}, own memory ${(seen.memory.anon / 1e6).toFixed(0)} MB, draw p90 ${ms(seen.draw_ms.p90)}`)
      const asked = await tiles(programs.gowhy, t, lanes)
      result.tiles.push({ trace: t.name, round, ...asked })
      told(`${t.name}: tiles of ${lanes.length} lanes p90 ${ms(asked.warm_ms.p90)}, never asked for ${ms(asked.cold_ms.p90)}, ${asked.pending} of ${asked.cold_ms.count} pending`)
    }
    result.peers.ours.push({ round, ...(await opened(launch, programs.gowhy, compared)) })
    const theirs = await peer(programs.tool, compared)
    result.peers.theirs.push({ round, ...theirs })
    told(`go tool trace ${compared.name}: main page ${ms(theirs.main_page_ms)}, ${(theirs.memory.anon / 1e6).toFixed(0)} MB`)
  }
  result.flame = await flame(launch, programs.gowhy, profile, o.rounds)
  told(`flame graph of ${result.flame[0].nodes} nodes: ${result.flame.map((f) => ms(f.drawn_ms)).join(', ')}`)
  result.load = { begin: begin.load, end: loads() }
  result.took_s = Math.round((performance.now() - begin.at) / 1000)
  result.bars = bars(result)
  result.ratios = ratios(result)
  console.log(report(result))
  if (o.out !== '') console.error('written to', save(isAbsolute(o.out) ? o.out : resolve(repository, o.out), result))
}

const ms = (v) => `${v.toFixed(v < 10 ? 1 : 0)} ms`

function help() {
  console.log(`node ui/e2e/bench.mjs [flags]: how fast the page is, and in how much memory

  -size full|small  full: the traces that the bars are of; small: a look (default full)
  -rounds N         how often everything is measured (default ${SIZES.full.rounds}, of small ${SIZES.small.rounds})
  -kind KIND        of the traces; go run ./bench -list tells the kinds (default channels)
  -o DIR            where the run's directory is made, '' for nowhere (default ${SIZES.full.out}, of small nowhere)
  GOWHY, CHROMIUM   in the environment: another binary, another browser`)
}

try {
  await main()
} catch (e) {
  console.error('bench:', e instanceof Wanting ? e.message : e.stack)
  process.exit(1)
}
