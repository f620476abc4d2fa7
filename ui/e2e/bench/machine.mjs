// The machine under a measurement: what it is, what a process takes of it, and
// what others took meanwhile. All of it is read from /proc.
import { readFileSync, readdirSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'

/** Of /proc's times. Linux tells programs 100, whatever its own clock's rate is. */
const TICKS_PER_S = 100

/** How many CPUs others may use before a measurement no longer counts: as of the Go benchmarks beside. */
const DISTURBED = 0.25

/** How often memory is looked at, ms. */
const LOOK_MS = 50

export function thisMachine(go) {
  return { os: process.platform, arch: { x64: 'amd64' }[process.arch] ?? process.arch, cores: cpus().length, cpu: cpus()[0]?.model ?? '', memory: totalmem(), go }
}

/** What a machine is called in the name of a directory. */
export const slug = (m) => [m.os, m.arch, m.cores, m.cpu, m.go].join('-').toLowerCase().replace(/[^\p{L}\p{N}.]+/gu, '-').replace(/^-|-$/g, '')

export const loads = () => loadavg().map((v) => Math.round(v * 100) / 100)

// read returns nothing for a process that is gone.
function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

// timesOf are the parent of a process and the seconds of CPU that it and its
// children that have ended took.
function timesOf(pid) {
  const text = read(`/proc/${pid}/stat`)
  if (text === '') return undefined
  const f = text.slice(text.lastIndexOf(')') + 2).split(' ') // a name may hold anything
  return { parent: Number(f[1]), own: (Number(f[11]) + Number(f[12])) / TICKS_PER_S, ended: (Number(f[13]) + Number(f[14])) / TICKS_PER_S }
}

/** Seconds of CPU of one process, user and system. */
export const cpuOf = (pid) => timesOf(pid)?.own ?? 0

// familyCPU is what this process and all that it started took.
function familyCPU() {
  const all = new Map()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const t = timesOf(name)
    if (t) all.set(Number(name), t)
  }
  const ours = (pid) => {
    for (let n = 0; pid > 1 && n < 100; n++) {
      if (pid === process.pid) return true
      pid = all.get(pid)?.parent ?? 0
    }
    return false
  }
  let sum = 0
  for (const [pid, t] of all) if (ours(pid)) sum += t.own + t.ended
  return sum
}

// machineCPU is what the whole machine took since it started: all but idle
// time and waiting for disks.
function machineCPU() {
  const f = read('/proc/stat').split('\n', 1)[0].trim().split(/\s+/).slice(1, 9).map(Number)
  return (f.reduce((a, b) => a + b, 0) - f[3] - f[4]) / TICKS_PER_S
}

/** Runs something and tells beside its answer how many CPUs others used meanwhile. */
export async function watched(what, run) {
  const began = performance.now(), family = familyCPU(), machine = machineCPU()
  const got = await run()
  const seconds = Math.max(0.01, (performance.now() - began) / 1000)
  const others = Math.max(0, (machineCPU() - machine - (familyCPU() - family)) / seconds)
  const disturbed = others > DISTURBED
  if (disturbed) console.error(`  others used ${others.toFixed(2)} CPUs during ${what}: it does not count unless no round was calm`)
  return { ...got, others_cpus: round(others), disturbed, load: loads() }
}

const round = (v) => Math.round(v * 100) / 100

/**
 * Looks at a process's memory until told to stop, and then tells its peaks in
 * bytes: anon is what it has for itself, apart from pages of mapped files; hwm
 * is the kernel's own peak of everything resident. mark ends a part, of which
 * the peak is kept by its name.
 */
export function watchMemory(pid) {
  const peak = { anon: 0, hwm: 0, samples: 0, parts: {} }
  let part = 0
  const look = () => {
    const text = read(`/proc/${pid}/status`)
    const field = (name) => 1024 * Number(text.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1] ?? 0)
    const anon = field('RssAnon')
    if (anon === 0) return
    peak.samples++
    peak.anon = Math.max(peak.anon, anon)
    part = Math.max(part, anon)
    peak.hwm = Math.max(peak.hwm, field('VmHWM'))
  }
  look()
  const timer = setInterval(look, LOOK_MS)
  return {
    mark(name) {
      look()
      peak.parts[name] = part
      part = 0
    },
    stop() {
      clearInterval(timer)
      look()
      return peak
    },
  }
}
