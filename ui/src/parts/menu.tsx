// A menu at a point of the page, as a right click opens it: the arrow keys go from
// entry to entry, Escape and a click elsewhere close it.
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import './menu.css'

export interface Entry {
  text: string
  /** What it does, or else where it leads. */
  act?: () => void
  href?: string
}

export interface MenuProps {
  x: number
  y: number
  title: string
  entries: Entry[]
  close(): void
}

export function Menu(p: MenuProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const back = useRef<Element | null>(null)
  const items = (): HTMLElement[] => [...(box.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]
  useLayoutEffect(() => {
    const el = box.current
    if (!el) return
    el.style.left = Math.max(0, Math.min(p.x, innerWidth - el.offsetWidth - 4)) + 'px'
    el.style.top = Math.max(0, Math.min(p.y, innerHeight - el.offsetHeight - 4)) + 'px'
  }, [p.x, p.y])
  useEffect(() => {
    back.current = document.activeElement
    items()[0]?.focus()
    const beside = (e: Event) => !box.current?.contains(e.target as Node) && p.close()
    document.addEventListener('pointerdown', beside)
    window.addEventListener('resize', p.close)
    return () => {
      document.removeEventListener('pointerdown', beside)
      window.removeEventListener('resize', p.close)
    }
  }, [])
  const leave = () => {
    p.close()
    if (back.current instanceof HTMLElement) back.current.focus({ preventScroll: true })
  }
  const key = (e: KeyboardEvent): void => {
    e.stopPropagation()
    if (e.key === 'Escape' || e.key === 'Tab') {
      e.preventDefault()
      return leave()
    }
    const list = items()
    const at = list.indexOf(document.activeElement as HTMLElement)
    const to = e.key === 'ArrowDown' ? at + 1 : e.key === 'ArrowUp' ? at - 1 + list.length : e.key === 'Home' ? 0 : e.key === 'End' ? list.length - 1 : -1
    if (to < 0) return
    e.preventDefault()
    list[to % list.length]?.focus()
  }
  return (
    <div class="menu" role="menu" aria-label={p.title} ref={box} onKeyDown={key} onContextMenu={(e) => e.preventDefault()}>
      <div class="menu-title mono clip" role="presentation">{p.title}</div>
      {p.entries.map((e) => e.href !== undefined
        ? <a key={e.text} role="menuitem" tabIndex={-1} href={e.href} onClick={() => p.close()}>{e.text}</a>
        : <button key={e.text} type="button" role="menuitem" tabIndex={-1} onClick={() => { leave(); e.act?.() }}>{e.text}</button>)}
    </div>
  )
}
