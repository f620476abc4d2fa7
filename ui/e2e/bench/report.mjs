// From raw runs to bars and a report to read. A figure is the median over the
// rounds with the least and the largest; rounds in which others used the machine
// do not count, unless there are no others: it is then marked with a star.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { slug } from './machine.mjs'

function median(list) {
  const s = [...list].sort((a, b) => a - b)
  const n = s.length
  return n % 2 === 1 ? s[(n - 1) / 2] : (s[n / 2 - 1] + s[n / 2]) / 2
}

const calm = (runs) => (runs.some((r) => !r.disturbed) ? runs.filter((r) => !r.disturbed) : runs)

/** A figure of many runs; undefined of none. */
function figure(runs, of) {
  const count = calm(runs)
  const all = count.map(of)
  if (all.length === 0) return undefined
  return { median: median(all), low: Math.min(...all), high: Math.max(...all), rounds: all.length, disturbed: count.some((r) => r.disturbed) }
}

/** Figures of two who took turns: their ratio in each round. */
function ratio(theirs, ours, of) {
  const pairs = ours.flatMap((o) => theirs.filter((t) => t.round === o.round).map((t) => ({ value: of(t) / of(o), disturbed: o.disturbed || t.disturbed })))
  return figure(pairs, (p) => p.value)
}

const BARS = {
  first: { text: 'first picture of the timeline, from the command', want: 2, unit: 's' },
  memory: { text: "peak of the server's own memory, apart from mapped pages", want: 600, unit: 'MB' },
  draw: { text: 'draw while panning and zooming, p90', want: 16, unit: 'ms' },
  equal: { text: 'the same, slowest by fastest of the sizes', want: 1.5, unit: 'x' },
  tile: { text: 'answer of a tile, p90', want: 10, unit: 'ms' },
  flame: { text: 'flame graph, from its data to the picture', want: 300, unit: 'ms' },
}

/**
 * What was reached of what is to be reached. Bars are of the sizes of a full run:
 * in a small one the figures stand there and no verdict.
 */
export function bars(result) {
  const full = result.size === 'full'
  const out = []
  const add = (bar, where, got, measured = full) => {
    if (!got) return out.push({ ...BARS[bar], where, verdict: 'not measured' })
    out.push({ ...BARS[bar], where, got, verdict: !measured ? 'not measured' : got.median <= BARS[bar].want ? 'met' : 'missed' })
  }
  const of = (t) => result.looks.filter((r) => r.trace === t.name)
  const largest = result.traces.at(-1)
  add('first', largest.name, figure(of(largest), (r) => r.first_picture_ms / 1000))
  add('memory', largest.name, figure(of(largest), (r) => r.memory.anon / 1e6))
  for (const t of result.traces) add('draw', t.name, figure(of(t), (r) => r.draw_ms.p90))
  const rounds = [...new Set(result.looks.map((r) => r.round))].map((round) => {
    const all = result.looks.filter((r) => r.round === round)
    const p90 = all.map((r) => r.draw_ms.p90)
    return { value: Math.max(...p90) / Math.min(...p90), disturbed: all.some((r) => r.disturbed) }
  })
  add('equal', `${result.traces.length} sizes`, figure(rounds, (r) => r.value))
  const asked = result.tiles.filter((r) => r.trace === largest.name)
  add('tile', `${largest.name}, asked for again`, figure(asked, (r) => r.warm_ms.p90))
  add('tile', `${largest.name}, never asked for`, figure(asked, (r) => r.cold_ms.p90))
  const nodes = result.flame[0]?.nodes ?? 0
  add('flame', `${nodes} nodes`, figure(result.flame, (r) => r.drawn_ms), nodes >= 175_000)
  return out
}

/** How go tool trace compares on the same file: its figures by gowhy's. */
export function ratios(result) {
  const { ours, theirs } = result.peers
  return {
    main_page: ratio(theirs, ours, (r) => r.main_page_ms ?? r.first_picture_ms),
    first_picture: ratio(theirs, ours, (r) => r.first_picture_ms),
    cpu: ratio(theirs, ours, (r) => r.cpu_s),
    anon: ratio(theirs, ours, (r) => r.memory.anon),
    hwm: ratio(theirs, ours, (r) => r.memory.hwm),
    toured: ratio(theirs, result.looks.filter((r) => r.trace === result.peers.trace), (r) => r.memory.anon),
  }
}

// Two or three digits that matter.
const digits = (v) => (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2))

function cell(f, by = 1) {
  if (!f) return '–'
  const spread = f.rounds > 1 ? ` (${digits(f.low * by)}–${digits(f.high * by)})` : ''
  return digits(f.median * by) + spread + (f.disturbed ? ' *' : '')
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |\n`
  return line(head) + '|---|' + head.slice(1).map((h) => (h === '' || h === 'at' ? '---|' : '---:|')).join('') + '\n' + rows.map(line).join('')
}

/** The report as Markdown. */
export function report(result) {
  const m = result.machine
  const parts = [
    `# The web page, ${result.date}\n\n`,
    `${m.os}/${m.arch}, ${m.cores} cores, ${m.cpu}, ${(m.memory / 1e9).toFixed(0)} GB of memory, ${m.go}, ${result.browser}. `,
    `${result.rounds === 1 ? 'One round' : `${result.rounds} rounds`} in ${result.took_s} s; load averages ${result.load.begin.join(' ')} at the begin, ${result.load.end.join(' ')} at the end. `,
    `Commit ${result.commit}${result.changed ? ' with changes that were not committed' : ''}, \`${result.command}\`.\n\n`,
    'Every figure is of a process and a browser of its own, nothing is pinned. Figures are medians over the rounds, with the least and the largest; a p90 is one of a round. ',
    '*: no round without other work on the machine.\n\n',
    '## Bars\n\n', barsTable(result.bars), '\n',
    'A picture counts from the first draw after tiles with something in them came, in a browser that is already running when the command is given; memory is RssAnon, looked at every 50 ms through loading and a tour. ',
    "A tile is asked for as the page asks, all lanes in sight in one request, one after another, of windows of any length at any place; never asked for: of a server that was just started. ",
    result.size === 'full' ? '' : 'Bars are of the sizes of a full run: of this one there are figures only.',
    '\n\n## Traces\n\n', tracesTable(result), '\n',
    'First and whole picture, memory: from the command on. Frame: from one frame to the next during the same tour, which is what is seen of a draw and of all else that the browser does; 16.7 ms is a frame of 60 in a second.\n\n',
    '## Own memory through a tour\n\n', memoryTable(result), '\n',
    '## Tiles\n\n', tilesTable(result), '\n',
    'Pending: of tiles never asked for, how many said that pieces of the trace are being read again; whole: until they were, asked every 20 ms.\n\n',
    '## Flame graph\n\n',
    `${result.flame[0]?.nodes ?? 0} nodes: ${cell(figure(result.flame, (r) => r.drawn_ms))} ms from the data to the picture, ${cell(figure(result.flame, (r) => r.opened_ms))} ms from opening the page, the server's building of the tree and the way of its answer with it.\n\n`,
    '## Beside go tool trace\n\n', peersTable(result), '\n',
    'go tool trace: until its main page is answered, and until the first part of its trace view is; it draws nothing here, gowhy does. Its own ratios to gowhy are taken within a round. CPU is until that moment (of go tool trace: until the data), of the server alone; peak memory as the kernel counts it has the pages of the mapped file with it.\n',
  ]
  return parts.join('')
}

function barsTable(list) {
  return table(['bar', 'to reach', 'reached', 'at', ''], list.map((b) => [b.text, `≤ ${digits(b.want)} ${b.unit}`, b.got ? `${cell(b.got)} ${b.unit}` : '–', b.where, b.verdict]))
}

function tracesTable(result) {
  return table(
    ['trace', 'MB', 'events', 'first picture s', 'whole s', 'own memory MB', 'peak resident MB', 'draw p50 ms', 'p90', 'p99', 'largest', 'draws', 'frame p99 ms'],
    result.traces.map((t) => {
      const runs = result.looks.filter((r) => r.trace === t.name)
      const f = (of, by) => cell(figure(runs, of), by)
      return [
        t.name, (t.bytes / 1e6).toFixed(1), t.events, f((r) => r.first_picture_ms, 1e-3), f((r) => r.whole_picture_ms, 1e-3),
        f((r) => r.memory.anon, 1e-6), f((r) => r.memory.hwm, 1e-6),
        f((r) => r.draw_ms.p50), f((r) => r.draw_ms.p90), f((r) => r.draw_ms.p99), f((r) => r.draw_ms.max),
        runs.reduce((n, r) => n + r.draw_ms.count, 0), f((r) => r.frame_gap_ms.p99),
      ]
    }),
  )
}

function memoryTable(result) {
  const names = Object.keys(result.looks[0]?.memory.parts ?? {})
  return table(['peak MB while', ...names], result.traces.map((t) => {
    const runs = result.looks.filter((r) => r.trace === t.name)
    return [t.name, ...names.map((n) => cell(figure(runs, (r) => r.memory.parts[n] ?? 0), 1e-6))]
  }))
}

function tilesTable(result) {
  return table(
    ['trace', 'lanes', 'levels', 'tiles', 'again p50 ms', 'p90', 'p99', 'never asked p50 ms', 'p90', 'p99', 'pending', 'whole p90 ms', 'KB'],
    result.traces.map((t) => {
      const runs = result.tiles.filter((r) => r.trace === t.name)
      const f = (of, by) => cell(figure(runs, of), by)
      const [first] = runs
      return [
        t.name, first?.lanes ?? '–', first?.levels.join('–') ?? '–', first?.cold_ms.count ?? '–',
        f((r) => r.warm_ms.p50), f((r) => r.warm_ms.p90), f((r) => r.warm_ms.p99),
        f((r) => r.cold_ms.p50), f((r) => r.cold_ms.p90), f((r) => r.cold_ms.p99),
        f((r) => r.pending), f((r) => r.whole_ms.p90), f((r) => r.bytes, 1e-3),
      ]
    }),
  )
}

function peersTable(result) {
  const { ours, theirs, trace } = result.peers
  const q = result.ratios
  const toured = result.looks.filter((r) => r.trace === trace)
  const row = (what, of, by, unit, f, g = of) => [what, `${cell(figure(ours, of), by)} ${unit}`, `${cell(figure(theirs, g), by)} ${unit}`, f ? `${cell(f)} x` : '–']
  return table([`${trace}`, 'gowhy view', 'go tool trace', 'ratio'], [
    row('something to see: the picture; the main page', (r) => r.first_picture_ms, 1e-3, 's', q.main_page, (r) => r.main_page_ms),
    row('the picture; data of the first part of the trace view', (r) => r.first_picture_ms, 1e-3, 's', q.first_picture),
    row('CPU until then', (r) => r.cpu_s, 1, 's', q.cpu),
    row('peak of own memory (RssAnon) until then', (r) => r.memory.anon, 1e-6, 'MB', q.anon),
    row('peak resident (VmHWM) until then', (r) => r.memory.hwm, 1e-6, 'MB', q.hwm),
    ['peak of own memory through the tour; as above', `${cell(figure(toured, (r) => r.memory.anon), 1e-6)} MB`, `${cell(figure(theirs, (r) => r.memory.anon), 1e-6)} MB`, `${cell(q.toured)} x`],
  ])
}

/**
 * Writes a directory for the run below parent; another one of the same day keeps
 * its own. The figures are in page.json: results.json is what a run of the trace
 * readers writes, and what they are checked against.
 */
export function save(parent, result) {
  const name = `${result.date}-page-${slug(result.machine)}`
  let dir = join(parent, name)
  for (let n = 2; existsSync(dir) && n < 100; n++) dir = join(parent, `${name}.${String(n).padStart(2, '0')}`)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'page.json'), JSON.stringify(result, null, '\t') + '\n')
  writeFileSync(join(dir, 'README.md'), report(result))
  return dir
}
