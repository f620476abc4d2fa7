// The panel below the picture: one of several views, as high as one wants.
import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { t } from '../strings'

export interface Tab {
  id: string
  title: string
  body(): ComponentChildren
}

const LEAST = 120
const STEP = 32

export function Panel(p: { tabs: Tab[]; shown: string; show(id: string): void; close(): void }): JSX.Element {
  const [height, setHeight] = useState(300)
  const box = useRef<HTMLElement>(null)
  const most = (): number => Math.max(LEAST, window.innerHeight - 260)
  const set = (h: number): void => setHeight(Math.round(Math.min(Math.max(h, LEAST), most())))
  const drag = (e: PointerEvent): void => {
    const grip = e.currentTarget as HTMLElement
    const from = e.clientY
    const before = box.current?.offsetHeight ?? height
    grip.setPointerCapture(e.pointerId)
    const move = (m: PointerEvent): void => set(before + from - m.clientY)
    const end = (): void => {
      grip.removeEventListener('pointermove', move)
      grip.removeEventListener('pointerup', end)
      grip.removeEventListener('pointercancel', end)
    }
    grip.addEventListener('pointermove', move)
    grip.addEventListener('pointerup', end)
    grip.addEventListener('pointercancel', end)
  }
  const key = (e: KeyboardEvent): void => {
    const by = e.key === 'ArrowUp' ? STEP : e.key === 'ArrowDown' ? -STEP : 0
    if (by === 0) return
    e.preventDefault()
    set(height + by)
  }
  const shown = p.tabs.find((tab) => tab.id === p.shown) ?? p.tabs[0]
  return (
    <section ref={box} class="tl-panel" aria-label={t('timeline.panel')} style={{ height: height + 'px' }}>
      <div
        class="tl-grip" role="separator" tabIndex={0} aria-orientation="horizontal" aria-label={t('timeline.panel.size')}
        aria-valuenow={height} aria-valuemin={LEAST} aria-valuemax={most()} onPointerDown={drag} onKeyDown={key}
      />
      <div class="tl-tabs">
        <Tabs {...p} shown={shown?.id ?? ''} />
        <button type="button" class="quiet" onClick={p.close} aria-label={t('timeline.panel.close')} title={t('timeline.panel.close')}>✕</button>
      </div>
      <div class="tl-body" role="tabpanel" id="tl-tabpanel" aria-labelledby={'tl-tab-' + (shown?.id ?? '')} tabIndex={0} onKeyDown={scrolls}>
        {shown?.body()}
      </div>
    </section>
  )
}

// Keys that scroll the panel are not for the lanes.
function scrolls(e: KeyboardEvent): void {
  if (['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown'].includes(e.key)) e.stopPropagation()
}

function Tabs(p: { tabs: Tab[]; shown: string; show(id: string): void }): JSX.Element {
  const key = (e: KeyboardEvent): void => {
    const by = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    e.preventDefault()
    const i = p.tabs.findIndex((tab) => tab.id === p.shown)
    const next = p.tabs[(i + by + p.tabs.length) % p.tabs.length]!
    p.show(next.id)
    document.getElementById('tl-tab-' + next.id)?.focus()
  }
  return (
    <div role="tablist" aria-label={t('timeline.panel')} onKeyDown={key}>
      {p.tabs.map((tab) => (
        <button
          key={tab.id} id={'tl-tab-' + tab.id} type="button" class="quiet" role="tab" aria-selected={tab.id === p.shown}
          aria-controls="tl-tabpanel" tabIndex={tab.id === p.shown ? 0 : -1} onClick={() => p.show(tab.id)}
        >
          {tab.title}
        </button>
      ))}
    </div>
  )
}
