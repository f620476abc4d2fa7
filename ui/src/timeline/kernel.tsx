// What the kernel's samples say: of the one that was clicked, and of a window.
import type { JSX } from 'preact'
import type { Frame, KernelCall, KernelWindow as Window, Span, StackTotal } from '../api'
import { isStatic } from '../client'
import { at as moment, count, dur, share } from '../format'
import { Table, type Col } from '../parts/table'
import { t } from '../strings'
import { href } from '../url'
import { known } from './follow'
import { brief } from './lanes'
import { stateIn, Swatch } from './legend'
import type { MomentProps } from './moment'
import { Stack } from './stack'

/** flameOf is the flame graph of the kernel's samples, with a function marked. */
export const flameOf = (fn: string): string => 'flame?kind=kernel' + (fn === '' ? '' : '&q=' + encodeURIComponent(fn))

/** marked is what of the flame graph a thing that the kernel did is: where it is no function's name, all of it. */
export const marked = (call: string): string => (call === 'page fault' ? 'page_fault' : call.includes(' ') || call === 'interrupt' ? '' : call)

/** own is the function of the program's own code that a stack is in, '' when none is. */
export const own = (frames: Frame[] | null): string => (frames ?? []).find((f) => f.kind === 'own')?.func ?? ''

export const laneOfThread = (thread: number): string => 'm:' + thread

/** Sampled is one sample of a kernel lane, or the time between two. */
export function Sampled(p: MomentProps): JSX.Element {
  const { span, stack, text } = p.moment
  if (!known(span)) return <p class="muted">{text || t('timeline.moment.nothing')}</p>
  return (
    <div class="tl-moment">
      <div class="tl-facts">
        {text !== '' && <p>{text}</p>}
        <Buttons {...p} />
        <Facts span={span} states={p.states} theme={p.theme} />
      </div>
      {(stack ?? []).length > 0 && (
        <div>
          <h2>{t('timeline.moment.stack')}</h2>
          <Stack frames={stack} />
        </div>
      )}
    </div>
  )
}

function Buttons(p: MomentProps): JSX.Element {
  const { span, stack } = p.moment
  return (
    <div class="tl-buttons">
      {!isStatic && <button type="button" onClick={() => p.neighbour(-1)}><kbd>,</kbd> {t('timeline.moment.previous')}</button>}
      {!isStatic && <button type="button" onClick={() => p.neighbour(1)}><kbd>.</kbd> {t('timeline.moment.next')}</button>}
      <button type="button" onClick={p.fit}><kbd>F</kbd> {t('timeline.moment.zoom')}</button>
      {!isStatic && span.thread > 0 && (
        <button type="button" onClick={() => p.to({ lane: laneOfThread(span.thread), at: Math.max(0, span.to_ns - 1) })}>{t('timeline.kernel.gothread')}</button>
      )}
      {span.state >= 0 && <a href={href(flameOf(stack?.[0]?.func ?? ''))}>{t('timeline.kernel.flame')}</a>}
    </div>
  )
}

function Facts(p: { span: Span; states: string[]; theme: MomentProps['theme'] }): JSX.Element {
  const { span } = p
  const state = p.states[span.state] ?? ''
  const facts: [string, JSX.Element | string][] = []
  if (state) {
    facts.push([t('timeline.moment.state'), <><Swatch state={span.state} theme={p.theme} /> {stateIn('cpu', state)}</>])
    facts.push([t('timeline.kernel.what'), <span title={span.reason}>{brief(span.reason)}</span>])
    facts.push([t('timeline.kernel.taken'), moment(span.to_ns)])
    facts.push([t('timeline.kernel.standsfor'), dur(span.to_ns - span.from_ns)])
  } else facts.push([t('timeline.moment.when'), `${moment(span.from_ns)} – ${moment(span.to_ns)}`])
  if (span.thread > 0) facts.push([t('timeline.moment.thread'), String(span.thread)])
  return (
    <dl class="tl-dl">
      {facts.map(([name, value], i) => <div key={i}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  )
}

const HEIGHT = 320

/** KernelWindow sums the samples of a window. */
export function KernelWindow(p: { window: Window }): JSX.Element {
  const { samples, in_kernel, period_ns, calls, stacks } = p.window
  const user = samples - in_kernel
  return (
    <>
      <section class="tl-kernel">
        <h2>{t('timeline.kind.kernel')}</h2>
        <p>
          {samples === 0 ? t('timeline.kernel.none', { period: dur(period_ns) }) : t('timeline.kernel.sum', {
            n: count(samples), user: count(user), usershare: share(user / samples), kernel: count(in_kernel), kernelshare: share(in_kernel / samples), period: dur(period_ns),
          })}
          {' '}<a href={href(flameOf(''))}>{t('timeline.kernel.flame')}</a>
        </p>
        {(calls ?? []).length > 0 && <Table caption={t('timeline.kernel.calls')} cols={callCols(samples)} rows={calls ?? []} height={HEIGHT} rowHref={(c) => flameOf(marked(c.name))} />}
      </section>
      <Stacks rows={stacks ?? []} />
    </>
  )
}

const callCols = (samples: number): Col<KernelCall>[] => [
  { key: 'name', title: t('timeline.kernel.what'), cell: (c) => c.name, value: (c) => c.name, sortable: true, width: 'minmax(10rem, 2fr)' },
  { key: 'count', title: t('timeline.kernel.samples'), align: 'right', cell: (c) => count(c.count), value: (c) => c.count, sortable: true, width: '6rem' },
  { key: 'share', title: t('timeline.kernel.share'), align: 'right', cell: (c) => share(c.count / Math.max(1, samples)), value: (c) => c.count, sortable: true, width: '6rem' },
  { key: 'ns', title: t('timeline.kernel.cpu'), align: 'right', cell: (c) => dur(c.ns), text: (c) => String(c.ns), value: (c) => c.ns, sortable: true, width: '7rem' },
]

// A stack of the kernel is known by its leaf, and by the program's function that led there.
function Stacks(p: { rows: StackTotal[] }): JSX.Element | null {
  if (p.rows.length === 0) return null
  return (
    <section class="tl-stacks">
      <h2>{t('timeline.kernel.stacks')}</h2>
      {p.rows.map((s, i) => {
        const leaf = s.stack?.[0]?.func ?? ''
        const from = own(s.stack)
        return (
          <details key={i}>
            <summary>
              <span class="right tl-stack-time">{dur(s.ns)}</span>
              <span class="tl-stack-state">{stateIn('cpu', s.state === 'kernel' ? 'syscall' : 'running')} ×{count(s.count)}</span>
              <span class="mono clip" title={leaf}>{brief(leaf) || '?'}</span>
              {from !== leaf && <span class="mono muted clip" title={from}>{brief(from)}</span>}
            </summary>
            {leaf !== '' && <p><a href={href(flameOf(leaf))}>{t('timeline.kernel.flame')}</a></p>}
            <Stack frames={s.stack} />
          </details>
        )
      })}
    </section>
  )
}
