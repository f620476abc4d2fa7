// What the colours and patterns mean; each is also a switch.
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { stateName, STATES } from '../state'
import { t } from '../strings'
import { swatch, type Theme } from './draw'
import { isKernel } from './lanes'

/** stateIn is what a state means in a lane: the kernel's samples are drawn with two of the trace's. */
export const stateIn = (kind: string, s: string): string => stateName(!isKernel(kind) ? s : s === 'syscall' ? 'kernel' : 'user')

export function Legend(p: { states: string[]; theme: Theme | undefined; hide: string[]; change(hide: string[]): void }): JSX.Element {
  return (
    <div class="tl-legend" role="group" aria-label={t('timeline.legend')}>
      {p.states.map((s, i) => (
        <button
          key={s} type="button" class="tl-state" aria-pressed={!p.hide.includes(s)}
          onClick={() => p.change(p.hide.includes(s) ? p.hide.filter((h) => h !== s) : [...p.hide, s])}
        >
          <Swatch state={i} theme={p.theme} />
          <span>{STATES[s] ? <b>{STATES[s].letter}</b> : null} {stateName(s)}</span>
        </button>
      ))}
      <span class="tl-mark" title={t('timeline.mark.rare.help')}><i class="tl-mark-rare" />{t('timeline.mark.rare')}</span>
      <span class="tl-mark" title={t('timeline.mark.long.help')}><i class="tl-mark-long" />{t('timeline.mark.long')}</span>
      <span class="tl-mark" title={t('timeline.mark.lost.help')}><i class="tl-mark-lost" />{t('timeline.mark.lost')}</span>
    </div>
  )
}

/** Swatch shows a state as the picture draws it. */
export function Swatch(p: { state: number; theme: Theme | undefined }): JSX.Element {
  const ref = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    if (ref.current && p.theme) swatch(ref.current, p.theme, p.state)
  }, [p.theme, p.state])
  return <canvas ref={ref} class="tl-swatch" width={24} height={14} aria-hidden="true" />
}
