// One flame graph on a canvas: drawing, pointer, keys, and what a screen reader
// meets. What is zoomed to is the URL's: this component asks for changes of it.
//
// To a screen reader it is a tree of which one item is there, the frame that the
// keys are at: 200,000 elements would be no help to anyone. The table view has all
// functions as rows.
import type { HTMLAttributes, JSX } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { share } from '../format'
import { useKeys } from '../keys'
import { Menu, type Entry } from '../parts/menu'
import { lang, t, tn } from '../strings'
import { useTheme } from '../theme'
import { amount, changeText, placeOf } from './describe'
import { layout, nodeAt, panned, spanOf, step, zoomed, type Layout, type Span, type Step } from './layout'
import { paint, readLook, rowAt, rowTop, ROW, type Look, type Picture as Painted } from './paint'
import { nextMatch } from './search'
import { compared, KINDS, nameOf, type Tree } from './tree'
import './picture.css'

export interface PictureProps {
  tree: Tree
  /** The root at the bottom. */
  up: boolean
  unit: string
  /** Of the whole run: what shares are of. */
  all: number
  /** Says what the picture is of. */
  label: string
  rootName: string
  names: string[]
  match: Uint8Array | null
  /** The node that is zoomed to. */
  focus: number
  onFocus(node: number): void
  /** A window that is not that of the focus; null when it is. */
  window: Span | null
  onWindow(w: Span | null): void
  cursor: number
  onCursor(node: number): void
  /** What can be done with a frame, for its menu. */
  menu(tree: Tree, node: number): Entry[]
  /** Answers to W A S D wherever the keyboard is. */
  main: boolean
}

interface Hover {
  node: number
  x: number
  y: number
}

export function Picture(props: PictureProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [hover, setHover] = useState<Hover | null>(null)
  const [keyed, setKeyed] = useState(false)
  const [menu, setMenu] = useState<Hover | null>(null)
  const places = useMemo(() => layout(props.tree), [props.tree])
  const own = spanOf(places, props.focus)
  const win = props.window ?? own
  // A window that is the focus's own needs no words.
  const p: PictureProps = { ...props, onWindow: (w) => props.onWindow(w && near(w, own) ? null : w) }
  const size = useSize(box)
  const scroll = useRef(0)
  const redraw = useDrawing(canvas, p, places, win, size, scroll, hover?.node ?? -1)
  const hand = useHand(p, places, win, size, scroll, setHover, setMenu)
  useReveal(box, p, size.height)
  const keys = useSteps(p, places, win, box, size.height)
  const shown = hover ?? (keyed && p.cursor >= 0 ? besideCursor(p, places, win, size, scroll.current) : null)

  return (
    <>
      <div
        class={'flame-box' + (p.up ? ' flame-up' : '')}
        ref={box}
        role="tree"
        tabIndex={0}
        aria-label={p.label}
        aria-activedescendant={`flame-item-${p.main ? 0 : 1}`}
        onScroll={(e) => {
          scroll.current = e.currentTarget.scrollTop
          setHover(null)
          redraw()
        }}
        onKeyDown={keys}
        onFocus={(e) => {
          if (e.currentTarget.matches(':focus-visible')) setKeyed(true)
          if (p.cursor < 0) p.onCursor(p.focus)
        }}
        onBlur={() => setKeyed(false)}
        {...hand}
      >
        <Item {...p} />
        <Space rows={p.tree.rows} height={size.height}>
          <canvas ref={canvas} class="flame-canvas" aria-hidden="true" />
        </Space>
        {shown && shown.node >= 0 && shown.node < p.tree.n && <Tip {...p} at={shown} width={size.width} height={size.height} scroll={scroll.current} />}
      </div>
      {menu && menu.node < p.tree.n && <Menu x={menu.x} y={menu.y} title={nameOf(p.tree, menu.node)} entries={p.menu(p.tree, menu.node)} close={() => setMenu(null)} />}
    </>
  )
}

function near(a: Span, b: Span): boolean {
  const least = (b.to - b.from) * 1e-4
  return Math.abs(a.from - b.from) < least && Math.abs(a.to - b.to) < least
}

// Item is the frame that the keys are at, in words.
function Item(p: PictureProps): JSX.Element {
  const { tree } = p
  const i = Math.max(0, Math.min(p.cursor, tree.n - 1))
  const [place, of] = siblings(tree, i)
  return (
    <div
      role="treeitem"
      id={`flame-item-${p.main ? 0 : 1}`}
      class="sr"
      aria-level={tree.depth[i]! + 1}
      aria-posinset={place}
      aria-setsize={of}
      aria-selected={i === p.focus}
      {...(tree.end[i]! > i + 1 ? { 'aria-expanded': true } : {})}
    >
      {describe(p, i)}
    </div>
  )
}

function siblings(t: Tree, i: number): [place: number, of: number] {
  const parent = t.parent[i]!
  if (parent < 0) return [1, 1]
  let of = 0, place = 1
  for (let c = parent + 1; c < t.end[parent]!; c = t.end[c]!) {
    of++
    if (c === i) place = of
  }
  return [place, of]
}

/** A frame in one sentence. */
function describe(p: Pick<PictureProps, 'tree' | 'unit' | 'all' | 'rootName' | 'focus'>, i: number): string {
  const { tree } = p
  const f = tree.func[i]!
  const parts = [f < 0 ? p.rootName : nameOf(tree, i)]
  if (f >= 0) parts.push(tn('flame.kind.' + KINDS[tree.funcs.kinds[f]!]))
  parts.push(t('flame.tip.sum', { v: amount(tree.sum[i]!, p.unit), s: share(tree.sum[i]! / p.all) }))
  const base = compared(tree)
  if (base) parts.push(t('flame.tip.change', { v: changeText(tree.sum[i]!, base.sum[i]!) }))
  return parts.join(lang() === 'zh' ? '，' : ', ')
}

// Space is as high as all rows; the canvas in it is as high as what is in sight.
function Space(p: { rows: number; height: number; children: JSX.Element }): JSX.Element {
  const el = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (el.current) el.current.style.height = `${p.rows * ROW}px`
  }, [p.rows])
  return <div class="flame-space" ref={el}>{p.children}</div>
}

interface Size {
  width: number
  height: number
  ratio: number
}

function useSize(box: { current: HTMLElement | null }): Size {
  const [size, set] = useState<Size>({ width: 0, height: 0, ratio: 1 })
  useLayoutEffect(() => {
    const el = box.current
    if (!el) return
    const read = () => {
      const next = { width: el.clientWidth, height: el.clientHeight, ratio: window.devicePixelRatio || 1 }
      set((old) => (old.width === next.width && old.height === next.height && old.ratio === next.ratio ? old : next))
    }
    read()
    const seen = new ResizeObserver(read)
    seen.observe(el)
    window.addEventListener('resize', read) // zooming the page changes the ratio
    return () => {
      seen.disconnect()
      window.removeEventListener('resize', read)
    }
  }, [])
  return size
}

// useDrawing draws in the next frame, once, however often it is asked to.
function useDrawing(
  canvas: { current: HTMLCanvasElement | null },
  p: PictureProps,
  places: Layout,
  win: Span,
  size: Size,
  scroll: { current: number },
  hover: number,
): () => void {
  const theme = useTheme()
  const look = useRef<{ theme: string; look: Look } | null>(null)
  const frame = useRef(0)
  const draw = useRef<() => void>(() => {})
  draw.current = () => {
    frame.current = 0
    const el = canvas.current
    const ctx = el?.getContext('2d', { alpha: false })
    if (!el || !ctx || size.width === 0) return
    const wide = Math.round(size.width * size.ratio), high = Math.round(size.height * size.ratio)
    if (el.width !== wide) el.width = wide
    if (el.height !== high) el.height = high
    el.style.width = `${size.width}px`
    el.style.height = `${size.height}px`
    if (look.current?.theme !== theme) look.current = { theme, look: readLook(ctx) }
    paint(ctx, { ...painted(p, size, scroll.current), layout: places, window: win, ratio: size.ratio, hover, cursor: p.cursor, match: p.match, names: p.names, rootName: p.rootName }, look.current.look)
    if (p.main) measured(p.tree)
  }
  const redraw = () => {
    if (frame.current === 0) frame.current = requestAnimationFrame(() => draw.current())
  }
  useLayoutEffect(redraw)
  useEffect(() => () => cancelAnimationFrame(frame.current), [])
  return redraw
}

function painted(p: PictureProps, size: Size, scroll: number): Pick<Painted, 'tree' | 'width' | 'height' | 'up' | 'rows' | 'scroll'> {
  // A tree that is lower than its box hangs from the top, or stands on the bottom.
  const high = p.tree.rows * ROW
  return { tree: p.tree, width: size.width, height: size.height, up: p.up, rows: p.tree.rows, scroll: p.up && high < size.height ? high - size.height : scroll }
}

let measuredTree: Tree | null = null

// How long it took from the data to the picture, for whoever measures it.
function measured(tree: Tree): void {
  if (measuredTree === tree) return
  measuredTree = tree
  if (performance.getEntriesByName('flame-data').length === 0) return
  performance.measure('flame-drawn', 'flame-data')
  performance.clearMarks('flame-data')
}

type Handlers = Pick<HTMLAttributes<HTMLDivElement>, 'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerLeave' | 'onPointerCancel' | 'onWheel' | 'onContextMenu'>

/** Pixels that a press may wander and still be a click. */
const WANDER = 4

// useHand is the pointer: hovering tells, a click zooms, a drag moves, the wheel
// with Ctrl zooms, sideways it moves.
function useHand(p: PictureProps, places: Layout, win: Span, size: Size, scroll: { current: number }, setHover: (h: Hover | null) => void, setMenu: (h: Hover | null) => void): Handlers {
  const held = useRef<{ x: number; win: Span; moved: boolean } | null>(null)
  const find = (e: MouseEvent & { currentTarget: EventTarget | null }) => {
    const edge = (e.currentTarget as HTMLElement).getBoundingClientRect()
    const x = e.clientX - edge.left, y = e.clientY - edge.top
    if (x < 0 || x >= size.width || y < 0 || y >= size.height) return { node: -1, x, y }
    const row = rowAt(painted(p, size, scroll.current), y)
    return { node: nodeAt(p.tree, places, row, win.from + (x / size.width) * (win.to - win.from)), x, y }
  }
  return {
    onPointerDown: (e) => {
      if (e.button !== 0 || e.clientX - e.currentTarget.getBoundingClientRect().left >= size.width) return
      held.current = { x: e.clientX, win, moved: false }
    },
    onPointerMove: (e) => {
      const h = held.current
      if (h && (h.moved || Math.abs(e.clientX - h.x) > WANDER)) {
        if (!h.moved) e.currentTarget.setPointerCapture(e.pointerId)
        h.moved = true
        setHover(null)
        p.onWindow(panned(h.win, (h.x - e.clientX) / size.width))
        return
      }
      const at = find(e)
      e.currentTarget.classList.toggle('flame-over', at.node >= 0)
      setHover(at.node >= 0 ? at : null)
    },
    onPointerUp: (e) => {
      const h = held.current
      held.current = null
      if (!h || h.moved) return
      const { node } = find(e)
      if (node < 0) return
      p.onCursor(node)
      p.onFocus(node)
    },
    onPointerCancel: () => (held.current = null),
    // By the keyboard's own key as well: then of the frame that the keys are at.
    onContextMenu: (e) => {
      const keyed = e.button !== 2
      const at = keyed ? besideCursor(p, places, win, size, scroll.current) : find(e)
      if (at.node <= 0) return
      e.preventDefault()
      const edge = e.currentTarget.getBoundingClientRect()
      setHover(null)
      p.onCursor(at.node)
      setMenu(keyed ? { node: at.node, x: edge.left + at.x, y: edge.top + at.y } : { node: at.node, x: e.clientX, y: e.clientY })
    },
    onPointerLeave: () => setHover(null),
    onWheel: (e) => {
      const by = e.deltaMode === 1 ? 16 : 1
      if (e.ctrlKey || e.metaKey) {
        e.preventDefault()
        const x = e.clientX - e.currentTarget.getBoundingClientRect().left
        p.onWindow(zoomed(win, win.from + (x / size.width) * (win.to - win.from), Math.exp((e.deltaY * by) / 300)))
      } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
        e.preventDefault()
        p.onWindow(panned(win, ((e.deltaX || e.deltaY) * by) / size.width))
      }
    },
  }
}

// useReveal scrolls to the frame that is zoomed to, or to the largest that was
// found: not at all where it is near the root's edge, which is home.
function useReveal(box: { current: HTMLElement | null }, p: PictureProps, height: number): void {
  const row = p.tree.depth[p.focus > 0 || (!p.match && !p.tree.marked) ? p.focus : Math.max(0, p.cursor)] ?? 0
  useLayoutEffect(() => {
    const el = box.current
    if (!el || height === 0) return
    const from = Math.floor(height / ROW / 2)
    const away = Math.max(0, row - from) * ROW
    el.scrollTop = p.up ? p.tree.rows * ROW - height - away : away
  }, [p.tree, p.focus, p.match, p.up, height === 0])
}

function besideCursor(p: PictureProps, places: Layout, win: Span, size: Size, scroll: number): Hover {
  const scale = size.width / (win.to - win.from)
  const left = ((places.x[p.cursor] ?? 0) - win.from) * scale
  const right = left + (places.w[p.cursor] ?? 0) * scale
  const y = rowTop(painted(p, size, scroll), p.tree.depth[p.cursor] ?? 0)
  return { node: p.cursor, x: Math.min(Math.max(0, (Math.max(0, left) + Math.min(size.width, right)) / 2 - 60), size.width), y: y + ROW / 2 }
}

// useSteps are the keys: the arrows while the picture has the keyboard, the rest
// wherever it is.
function useSteps(p: PictureProps, places: Layout, win: Span, box: { current: HTMLElement | null }, height: number): (e: KeyboardEvent) => void {
  const middle = (win.from + win.to) / 2
  const anywhere: Record<string, () => unknown> = {
    w: () => p.onWindow(zoomed(win, middle, 1 / 1.5)),
    s: () => p.onWindow(zoomed(win, middle, 1.5)),
    a: () => p.onWindow(panned(win, -0.2)),
    d: () => p.onWindow(panned(win, 0.2)),
    f: () => p.cursor >= 0 && p.onFocus(p.cursor),
    u: () => history.back(),
    Backspace: () => history.back(),
    '.': () => match(1),
    ',': () => match(-1),
    Escape: () => p.focus > 0 && p.onFocus(0),
  }
  const match = (by: 1 | -1) => {
    if (!p.match) return
    const i = nextMatch(p.tree, p.match, Math.max(0, p.cursor), by)
    if (i >= 0) goTo(i)
  }
  const goTo = (i: number) => {
    p.onCursor(i)
    const el = box.current
    if (!el) return
    const top = (p.up ? p.tree.rows - 1 - p.tree.depth[i]! : p.tree.depth[i]!) * ROW
    if (top < el.scrollTop || top + ROW > el.scrollTop + height) el.scrollTop = Math.max(0, top - height / 2)
    // A frame beside the window is brought into it.
    if (places.x[i]! >= win.to || places.x[i]! + places.w[i]! <= win.from) p.onWindow(null)
    if (places.w[i]! > 0 && (places.x[i]! >= spanOf(places, p.focus).to || places.x[i]! + places.w[i]! <= spanOf(places, p.focus).from)) p.onFocus(i)
  }
  useKeys(p.main ? anywhere : {}, p.main ? help() : [])
  const arrows: Record<string, Step> = { ArrowLeft: 'previous', ArrowRight: 'next', ArrowUp: p.up ? 'callee' : 'caller', ArrowDown: p.up ? 'caller' : 'callee' }
  return (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey) return
    const to = arrows[e.key]
    const at = Math.max(0, p.cursor)
    if (to) goTo(step(p.tree, at, to))
    else if (e.key === 'Enter') p.onFocus(at)
    else if (e.key === 'Home') goTo(0)
    else if (!p.main && Object.hasOwn(anywhere, e.key)) anywhere[e.key]!()
    else return
    e.preventDefault()
    e.stopPropagation()
  }
}

function help(): [string, string][] {
  return [
    ['W / S', t('flame.help.zoom')],
    ['A / D', t('flame.help.pan')],
    ['↑ ↓ ← →', t('flame.help.step')],
    ['Enter / F', t('flame.help.focus')],
    ['Esc', t('flame.help.whole')],
    ['U', t('flame.help.back')],
    ['. / ,', t('flame.help.match')],
    ['/', t('flame.help.search')],
  ]
}

// Tip tells of the frame under the pointer, or of that which the keys are at.
function Tip(p: PictureProps & { at: Hover; width: number; height: number; scroll: number }): JSX.Element {
  const el = useRef<HTMLDivElement>(null)
  const { tree } = p
  const i = p.at.node
  const base = compared(tree)
  useLayoutEffect(() => {
    const tip = el.current
    if (!tip) return
    const w = tip.offsetWidth, h = tip.offsetHeight
    const x = p.at.x + 14 + w > p.width ? Math.max(0, p.at.x - w - 10) : p.at.x + 14
    const y = p.at.y + 16 + h > p.height ? Math.max(2, p.at.y - h - 12) : p.at.y + 16
    tip.style.transform = `translate(${x}px, ${y + p.scroll}px)`
  })
  const f = tree.func[i]!
  const focus = tree.sum[p.focus]!
  return (
    <div class="flame-tip" ref={el} aria-hidden="true">
      <b class="mono">{f < 0 ? p.rootName : p.names[f]}</b>
      {f >= 0 && <span class="flame-tip-where">{tn('flame.kind.' + KINDS[tree.funcs.kinds[f]!])}{placeOf(tree, i) && ' · ' + placeOf(tree, i)}</span>}
      <span>{t('flame.tip.sum', { v: amount(tree.sum[i]!, p.unit), s: share(tree.sum[i]! / p.all) })}</span>
      {p.focus > 0 && i !== p.focus && focus > 0 && <span>{t('flame.tip.focus', { s: share(tree.sum[i]! / focus) })}</span>}
      {tree.self[i]! > 0 && <span>{t('flame.tip.self', { v: amount(tree.self[i]!, p.unit), s: share(tree.self[i]! / p.all) })}</span>}
      {base && (
        <span>{t('flame.tip.base', { v: amount(base.sum[i]!, p.unit), c: changeText(tree.sum[i]!, base.sum[i]!) })}</span>
      )}
    </div>
  )
}
