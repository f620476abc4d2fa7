// Stacks in the timeline's panels, leaf first, with whose each function is.
import type { JSX } from 'preact'
import type { Frame } from '../api'
import { isStatic } from '../client'
import { t } from '../strings'
import { href } from '../url'
import { brief } from './lanes'

export function Stack(p: { frames: Frame[] | null | undefined }): JSX.Element {
  const frames = p.frames ?? []
  if (frames.length === 0) return <p class="muted">{t('timeline.moment.nostack')}</p>
  return (
    <ol class="tl-stack">
      {frames.map((f, i) => (
        <li key={i} class={'tl-frame tl-frame-' + f.kind}>
          <span class="tl-frame-kind" title={f.kind}>{f.kind}</span>
          <span class="mono tl-frame-func" title={f.func}>{brief(f.func) || '?'}</span>
          {f.file !== '' && <span class="mono muted tl-frame-file" title={`${f.file}:${f.line}`}><Line of={f} /></span>}
        </li>
      ))}
    </ol>
  )
}

function Line(p: { of: Frame }): JSX.Element {
  const text = tail(p.of.file) + (p.of.line > 0 ? ':' + p.of.line : '')
  return isStatic || p.of.kind === 'kernel' ? <>{text}</> : <a href={sourceOf(p.of)}>{text}</a>
}

/** sourceOf is the way to a line of the source, beside what the lines of its function cost. */
export const sourceOf = (f: Frame): string => href(`flame?kind=states&src=1&focus=${encodeURIComponent(f.func)}&line=${f.line}`)

/** place is the frame that a reader knows: the first of the program itself, else the leaf. */
export function placeOf(frames: Frame[] | null | undefined): Frame | undefined {
  const list = frames ?? []
  return list.find((f) => f.kind === 'own') ?? list.find((f) => f.kind === 'dep') ?? list[0]
}

/** tail is a file with its folder. */
export const tail = (file: string): string => file.split('/').slice(-2).join('/')
