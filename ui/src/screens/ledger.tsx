// The accounts at the head of a diagnosis: where the processors' time and the CPU
// time went, and what recording took of it.
import type { JSX } from 'preact'
import type { CPU, CPUPart, Diagnosis, Recording, Share, TraceInfo } from '../api'
import { dur, figures, num, share } from '../format'
import { Bar } from '../parts/bar'
import { Said } from '../parts/said'
import { t, tn } from '../strings'

export function Ledger(p: { d: Diagnosis }): JSX.Element | null {
  const { time, cpu, recording, trace } = p.d
  if (!time?.length && !cpu && !recording) return null
  return (
    <aside class="ledger">
      {time && time.length > 0 && <Time shares={time} />}
      {cpu && <CPUTime cpu={cpu} trace={trace} />}
      {recording && <Took r={recording} />}
    </aside>
  )
}

interface Line {
  name: string
  ns: number
  share: number
  by: string
}

function Account(p: { caption: string; lines: Line[] }): JSX.Element {
  return (
    <table class="account">
      <caption class="sr">{p.caption}</caption>
      <thead class="sr">
        <tr><th scope="col">{t('core.time.what')}</th><th scope="col">{t('core.time.share')}</th><th scope="col">{t('core.time.time')}</th></tr>
      </thead>
      <tbody>
        {p.lines.map((l) => (
          <tr key={l.name}>
            <th scope="row">
              <Said text={l.name} />
              <Bar share={l.share} />
              {l.by !== '' && <small class="muted">{l.by}</small>}
            </th>
            <td class="right">{share(l.share)}</td>
            <td class="right muted">{dur(l.ns)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Time(p: { shares: Share[] }): JSX.Element {
  return (
    <section class="card" aria-labelledby="time">
      <h2 id="time">{t('core.time')}</h2>
      <Account caption={t('core.time')} lines={p.shares.map((s) => ({ ...s, by: '' }))} />
    </section>
  )
}

/** The share below which a call is not worth its words, and how many are named. */
const SMALL_PIECE = 0.02
const PIECES = 3

function pieces(part: CPUPart): string {
  return (part.by ?? []).filter((b) => b.share >= SMALL_PIECE).slice(0, PIECES).map((b) => `${b.name} ${share(b.share)}`).join(', ')
}

/** The share of the trace's time from which an account of CPU counts as one of all of it. */
const WHOLE_WINDOW = 0.9

function amount(c: CPU, trace: TraceInfo | undefined): string {
  if (c.window_ns <= 0) return dur(c.total_ns)
  const args = { cores: num(c.cores, 'cores'), window: dur(c.window_ns) }
  if (trace && c.window_ns < WHOLE_WINDOW * trace.duration_ns) return t('core.cpu.part', { ...args, whole: dur(trace.duration_ns) })
  return t('core.cpu.amount', args)
}

function CPUTime(p: { cpu: CPU; trace: TraceInfo | undefined }): JSX.Element {
  const c = p.cpu
  const notes = [coverage(c)]
  if (c.counted) notes.unshift(t('core.cpu.rusage', { user: dur(c.user_ns), system: dur(c.system_ns) }))
  // Why is told where it changes what a reader believes.
  const doubtful = Object.values(c.coverage ?? {}).some((v) => v < 0.9 || v > 1.1)
  return (
    <section class="card" aria-labelledby="cpu">
      <h2 id="cpu">{t('core.cpu')}</h2>
      <p class="ledger-amount">{amount(c, p.trace)}</p>
      <Account caption={t('core.cpu')} lines={c.parts.map((part) => ({ ...part, by: pieces(part) }))} />
      {notes.filter((n) => n !== '').map((n) => <p key={n} class="ledger-note">{n}</p>)}
      {doubtful && c.why && <p class="ledger-note"><Said text={c.why} /></p>}
    </section>
  )
}

// coverage says how much of the CPU time each source saw.
function coverage(c: CPU): string {
  if (!c.counted) return c.source ? t('core.cpu.uncounted', { source: sample(c.source) }) : ''
  const seen = Object.entries(c.coverage ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  if (seen.length === 0) return t('core.cpu.nosamples')
  const list = seen.map(([source, v]) => {
    const what = `${sample(source)} ${share(v)}`
    return source === c.source && seen.length > 1 ? t('core.cpu.believed', { what }) : what
  })
  const scaled = c.scale > 0 && c.scale !== 1 ? '; ' + t('core.cpu.scaled', { x: figures(c.scale) }) : ''
  return t('core.cpu.coverage', { list: list.join(', ') }) + scaled
}

function sample(source: string): string {
  return tn('core.cpu.' + source, source)
}

function Took(p: { r: Recording }): JSX.Element {
  const { recorder_cpu_ns: recorder, target_cores: now, target_cores_before: before } = p.r
  return (
    <section class="card" aria-labelledby="recording">
      <h2 id="recording">{t('core.recording')}</h2>
      <p class="ledger-note">{t('core.recording.recorder', { t: dur(recorder) })}</p>
      {typeof now === 'number' && typeof before === 'number' && (
        <p class="ledger-note">{t('core.recording.target', { now: num(now, 'cores'), before: num(before, 'cores') })}</p>
      )}
    </section>
  )
}
