// The stage: canvases, the hand and the clock. It holds the window while it moves
// (sixty times a second, which is no work for components), draws when something
// has changed and at most once a frame, and tells what was done to it.
import type { Gap, Insight, Lane, Span } from '../api'
import { spanAt } from './decode'
import {
  drawLanes, drawOverlay, drawOverview, drawRuler, hasTiles, hit, levelOf, readTheme,
  type Chart, type Hit, type Levels, type Overlay, type Scene, type Theme,
} from './draw'
import type { LaneTree, Row } from './lanes'
import { Tiles, type Fetch, type Wanted } from './tiles'
import { keep, pan, same, tileNs, tilesOf, timeAt, zoom, type Window } from './window'

export interface Parts {
  scroller: HTMLElement
  /** As tall as all rows; the canvases move in it with what is scrolled. */
  rows: HTMLElement
  picture: HTMLCanvasElement
  overlay: HTMLCanvasElement
  ruler: HTMLCanvasElement
  overview: HTMLCanvasElement
  /** Tells what the ruler counts from. */
  base: HTMLElement
}

export interface Told {
  /** The window changed: on every frame of a movement. */
  moved(w: Window): void
  /** The hand rests. */
  rested(w: Window): void
  /** Other rows are in sight, or more is known of them. */
  rows(rows: Row[]): void
  pages(missing: { parent: string; offset: number }[]): void
  /** x and y are of the page. */
  hover(h: Hit | undefined, x: number, y: number): void
  chosen(h: Hit): void
  selected(w: Window, row: Row | undefined): void
  /** The window was set by who asked for it. */
  shown(w: Window): void
  /** The window was set by a jump, like a click into the overview. */
  jumped(w: Window): void
  tilesFailed(e: unknown): void
}

type Sight = Pick<Scene, 'window' | 'width' | 'height' | 'dpr' | 'top' | 'rows' | 'levels'>

export type Move = 'in' | 'out' | 'left' | 'right'

/** Pixels drawn above and below what is in sight, so that scrolling shows no edge. */
const OVER = 120
const REST_MS = 160
/** Frames without a single tile are left out for so long: the first picture is sooner there without them. */
const EMPTY_MS = 250
/** As in timeline.css, for the time until they are drawn. */
const RULER_H = 24
const OVERVIEW_H = 44
/** Pixels that a hand may tremble during a click. */
const STILL = 4
const EDGE = 7

export class Stage {
  window: Window
  readonly overlay: Overlay = { pointer: null, focus: '', marked: new Set(), selected: null, note: '', dragged: null, span: null, edges: [], strong: [], holds: null }
  readonly charts = new Map<string, Chart>()
  /** Collections and stopped worlds, drawn over all lanes when that is wanted. */
  overlays: NonNullable<Scene['gc']> = { cycles: [], pauses: [] }
  private overlaid = true
  private insighted = true
  readonly tiles: Tiles
  private look: Theme | undefined
  private hidden: boolean[]
  private frame = 0
  private dirty = { picture: true, overlay: true, overview: true }
  private rest: ReturnType<typeof setTimeout> | undefined
  private width = 0
  private above = 0 // width of the overview
  private view = 0 // height of what is in sight
  private told = { top: -1, bottom: -1, version: -1, known: -1 }
  private version = 0
  private sought = '' // a lane that was to be revealed and had no row yet
  private hands = new Map<number, { x: number; y: number }>()
  private over: { x: number; y: number } | undefined // the pointer, on the page
  private gesture: 'none' | 'select' | 'pan' | 'pinch' = 'none'
  private start = { x: 0, y: 0, at: 0, window: { from: 0, to: 1 } as Window }
  private held = new Map<Move, number>()
  private heldFrame = 0
  private drawn = 0
  private readonly made = performance.now()
  private empty: ReturnType<typeof setTimeout> | undefined
  private readonly off: (() => void)[] = []

  constructor(
    private readonly parts: Parts,
    readonly tree: LaneTree,
    private readonly o: {
      duration: number
      levels: Levels
      states: string[]
      gaps: Gap[]
      insights: Insight[]
      overviewLane: string
      window: Window | null
      fetch: Fetch
    },
    private readonly tell: Told,
  ) {
    this.window = keep(o.window ?? { from: 0, to: o.duration }, o.duration)
    this.hidden = o.states.map(() => false)
    this.tiles = new Tiles({
      fetch: o.fetch,
      states: o.states.length,
      maxLevel: o.levels.max,
      maxTile: (level) => tilesOf({ from: 0, to: o.duration }, level)[1],
      came: () => this.came(),
      failed: (e) => this.tell.tilesFailed(e),
    })
    this.listen()
    this.resize()
    // Not with the first frame: the server works while it is made.
    const s = this.sight()
    this.want(s)
    this.tellRows(s)
    this.empty = setTimeout(() => this.redraw(), EMPTY_MS)
  }

  close(): void {
    for (const f of this.off) f()
    cancelAnimationFrame(this.frame)
    cancelAnimationFrame(this.heldFrame)
    clearTimeout(this.rest)
    clearTimeout(this.empty)
    this.tiles.close()
  }

  /** The time where the pointer is, or else in the middle of the window. */
  get middle(): number {
    const { from, to } = this.window
    return this.overlay.pointer === null ? (from + to) / 2 : timeAt(this.window, this.width, this.overlay.pointer)
  }

  get theming(): Theme {
    return (this.look ??= this.read(0))
  }

  private read(version: number): Theme {
    return readTheme(this.o.states, version, this.parts.picture.getContext('2d', { alpha: false })!)
  }

  /** show sets the window without telling that it rests: who asks knows. */
  show(w: Window): void {
    const next = keep(w, this.o.duration)
    clearTimeout(this.rest)
    this.tell.shown(next)
    this.put(next)
  }

  private put(next: Window): void {
    if (same(next, this.window)) return
    this.window = next
    this.tell.moved(next)
    this.redraw()
  }

  /** themed reads the colours again; every bitmap is painted anew as it is drawn. */
  themed(): void {
    this.look = this.read(this.theming.version + 1)
    this.redraw()
  }

  hide(states: readonly string[]): void {
    this.hidden = this.o.states.map((s) => states.includes(s))
    this.redraw()
  }

  showInsights(on: boolean): void {
    this.insighted = on
    this.redraw()
  }

  showGC(on: boolean): void {
    this.overlaid = on
    this.redraw()
  }

  /** changed tells that rows were opened, closed, moved or have come. */
  changed(): void {
    this.version++
    this.parts.rows.style.height = this.tree.height + 'px'
    if (this.sought !== '') this.revealLane(this.sought)
    this.redraw()
  }

  redraw(): void {
    this.dirty.picture = this.dirty.overlay = this.dirty.overview = true
    this.schedule()
  }

  redrawOverlay(): void {
    this.dirty.overlay = true
    this.schedule()
  }

  /** revealLane scrolls to a lane, or will as soon as it has a row. */
  revealLane(id: string): void {
    const row = this.tree.row(id)
    this.sought = row ? '' : id
    if (row) this.reveal(row)
  }

  /** reveal scrolls so that a row is in sight. */
  reveal(row: Row | undefined): void {
    if (!row) return
    const { scroller } = this.parts
    const top = scroller.scrollTop
    if (row.y < top) scroller.scrollTop = Math.max(0, row.y - 8)
    else if (row.y + row.h > top + scroller.clientHeight) scroller.scrollTop = row.y + row.h - scroller.clientHeight + 8
  }

  /** press begins a movement that lasts as long as its key is down. */
  press(m: Move, repeat: boolean): void {
    if (repeat && this.held.has(m)) return
    this.step(m, 1)
    this.held.set(m, performance.now())
    if (this.heldFrame === 0) this.heldFrame = requestAnimationFrame((t) => this.glide(t, t))
  }

  release(m: Move): void {
    this.held.delete(m)
  }

  /** spanAt is the exact stretch of a lane at a time, when a tile that is here has it. */
  spanAt(lane: string, at: number): Span | undefined {
    for (let level = this.o.levels.min; level <= this.o.levels.max; level++) {
      const spans = this.tiles.get(level, Math.floor(at / tileNs(level)), lane)?.tile.spans
      const found = spans && spanAt(spans, at)
      if (found) return found
    }
    return undefined
  }

  /** scene is what is drawn now: what points at the picture needs it. */
  scene(): Scene {
    return {
      ...this.sight(),
      states: this.o.states,
      hidden: this.hidden,
      hiddenKey: this.hidden.map(Number).join(''),
      theme: this.theming,
      tiles: this.tiles,
      charts: this.charts,
      gc: this.overlaid ? this.overlays : null,
      gaps: this.o.gaps,
      insights: this.insighted ? this.o.insights : [],
    }
  }

  // sight is the part of a scene that says what is in it.
  private sight(): Sight {
    const top = this.pictureTop()
    const height = this.pictureHeight(top)
    const rows = this.tree.rows(top, top + height)
    return { window: this.window, width: this.width, height, dpr: devicePixelRatio || 1, top, rows, levels: this.o.levels }
  }

  /** inSight are the rows that are not cut off by scrolling. */
  inSight(): Row[] {
    const top = this.parts.scroller.scrollTop
    return this.tree.rows(top, top + this.view)
  }

  private pictureTop(): number {
    return Math.max(0, Math.floor(this.parts.scroller.scrollTop) - OVER)
  }

  private pictureHeight(top: number): number {
    return Math.max(1, Math.min(this.view + 2 * OVER, Math.max(this.tree.height, this.view) - top))
  }

  // The first tiles are drawn when they come: the frame that shows them has enough
  // to do with the rest of the page.
  private came(): void {
    this.redraw()
    if (this.drawn > 0) return
    cancelAnimationFrame(this.frame)
    this.paint()
    if (this.drawn > 0) clearTimeout(this.empty)
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint())
  }

  private paint(): void {
    this.frame = 0
    if (this.width < 2) return
    const s = this.scene()
    this.tellRows(s)
    if (this.tiles.none && performance.now() - this.made < EMPTY_MS) return
    if (this.dirty.picture) this.paintPicture(s)
    else if (this.dirty.overlay) this.paintOverlay(s)
    this.dirty.overlay = false
    if (this.dirty.overview) this.paintOverview(s)
  }

  private paintPicture(s: Scene): void {
    this.dirty.picture = false
    const began = performance.now()
    const { picture, ruler } = this.parts
    place(picture, s.width, s.height, s.dpr, s.top)
    const done = drawLanes(picture.getContext('2d', { alpha: false })!, s)
    place(ruler, s.width, RULER_H, s.dpr)
    const base = drawRuler(ruler.getContext('2d', { alpha: false })!, s, RULER_H)
    if (this.parts.base.textContent !== base) this.parts.base.textContent = base
    this.paintOverlay(s)
    this.measure(began, s)
    this.hover(s)
    this.want(s)
    if (!done) this.redraw()
  }

  // want says which tiles are in sight, here and in the overview.
  private want(s: Sight): void {
    const wanted = [wantedBy(s, s.rows.map((r) => r.lane))]
    if (this.above >= 2) {
      const all = { ...s, window: { from: 0, to: this.o.duration }, width: this.above }
      wanted.push(wantedBy(all, [this.tree.lane(this.o.overviewLane)]))
    }
    this.tiles.want(wanted)
  }

  // What a frame took, for whoever measures: the browser's own record of it.
  private measure(began: number, s: Scene): void {
    if (++this.drawn % 2000 === 0) performance.clearMeasures('timeline-draw')
    performance.measure('timeline-draw', { start: began, end: performance.now(), detail: { level: levelOf(s), rows: s.rows.length } })
  }

  private paintOverlay(s: Scene): void {
    const { overlay } = this.parts
    place(overlay, s.width, s.height, s.dpr, s.top)
    drawOverlay(overlay.getContext('2d')!, s, this.overlay)
  }

  private paintOverview(s: Scene): void {
    this.dirty.overview = false
    const { overview } = this.parts
    const width = this.above
    if (width < 2) return
    const height = OVERVIEW_H
    place(overview, width, height, s.dpr)
    const all: Scene = { ...s, window: { from: 0, to: this.o.duration }, width, height, top: 0 }
    const lane = this.tree.lane(this.o.overviewLane)
    const done = drawOverview(overview.getContext('2d', { alpha: false })!, all, lane, this.window)
    if (!done) {
      this.dirty.overview = true
      this.schedule()
    }
  }

  private tellRows(s: Sight): void {
    const bottom = s.top + s.height
    const known = s.rows.reduce((n, r) => n + (r.lane ? 1 : 0), 0)
    const t = this.told
    if (t.top === s.top && t.bottom === bottom && t.version === this.version && t.known === known) return
    this.told = { top: s.top, bottom, version: this.version, known }
    this.tell.rows(s.rows)
    const missing = this.tree.missing(s.rows)
    if (missing.length > 0) this.tell.pages(missing)
  }

  private resize(): void {
    const { scroller, picture, overview } = this.parts
    const box = picture.parentElement!
    this.width = Math.max(2, Math.floor(box.clientWidth))
    this.view = Math.max(40, scroller.clientHeight)
    this.above = overview.parentElement?.clientWidth ?? 0
    this.parts.rows.style.height = this.tree.height + 'px'
    this.redraw()
  }

  // move sets the window by hand: it rests when the hand does.
  private move(w: Window): void {
    if (same(w, this.window)) return
    this.window = w
    this.tell.moved(w)
    this.redraw()
    clearTimeout(this.rest)
    this.rest = setTimeout(() => this.tell.rested(this.window), REST_MS)
  }

  private step(m: Move, size: number): void {
    const w = this.window
    const wide = w.to - w.from
    const at = this.middle
    if (m === 'in') this.move(zoom(w, at, 0.72 ** size, this.o.duration))
    else if (m === 'out') this.move(zoom(w, at, 0.72 ** -size, this.o.duration))
    else this.move(pan(w, (m === 'left' ? -1 : 1) * wide * 0.12 * size, this.o.duration))
  }

  // glide goes on while keys are down, in steps of the clock and not of the
  // keyboard's repetition.
  private glide(t: number, before: number): void {
    this.heldFrame = 0
    if (this.held.size === 0) return
    for (const [m, since] of this.held) if (t - since > 180) this.step(m, Math.min(0.1, (t - before) / 1000) * 7)
    this.heldFrame = requestAnimationFrame((now) => this.glide(now, t))
  }

  private listen(): void {
    const { scroller, picture, overview } = this.parts
    const on = <K extends keyof HTMLElementEventMap>(el: HTMLElement, type: K, f: (e: HTMLElementEventMap[K]) => void, o?: AddEventListenerOptions): void => {
      el.addEventListener(type, f, o)
      this.off.push(() => el.removeEventListener(type, f, o))
    }
    on(scroller, 'scroll', () => this.redraw(), { passive: true })
    on(scroller, 'wheel', (e) => this.wheel(e, picture), { passive: false })
    on(overview, 'wheel', (e) => this.wheel(e, overview), { passive: false })
    on(picture, 'pointerdown', (e) => this.down(e))
    on(picture, 'pointermove', (e) => this.motion(e))
    on(picture, 'pointerup', (e) => this.up(e))
    on(picture, 'pointercancel', (e) => this.cancel(e))
    on(picture, 'pointerleave', () => this.leave())
    this.listenOverview(on)
    const letGo = (e: KeyboardEvent): void => {
      const m = { w: 'in', s: 'out', a: 'left', d: 'right', arrowleft: 'left', arrowright: 'right', '+': 'in', '=': 'in', '-': 'out' }[e.key.toLowerCase()]
      if (m) this.held.delete(m as Move)
    }
    const blur = (): void => this.held.clear()
    addEventListener('keyup', letGo)
    addEventListener('blur', blur)
    const seen = new ResizeObserver(() => this.resize())
    seen.observe(scroller)
    seen.observe(picture.parentElement!)
    // Another screen or another zoom of the page: as many pixels as it has.
    let media: MediaQueryList
    const density = (): void => {
      media?.removeEventListener('change', density)
      media = matchMedia(`(resolution: ${devicePixelRatio}dppx)`)
      media.addEventListener('change', density)
      this.redraw()
    }
    density()
    this.off.push(
      () => removeEventListener('keyup', letGo),
      () => removeEventListener('blur', blur),
      () => seen.disconnect(),
      () => media.removeEventListener('change', density),
    )
  }

  private wheel(e: WheelEvent, on: HTMLElement): void {
    const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1
    const w = this.window
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault()
      // A pinch sends many small steps and a wheel few large ones.
      const by = Math.max(-25, Math.min(25, e.deltaY * unit))
      const box = on.getBoundingClientRect()
      const whole = on === this.parts.overview ? { from: 0, to: this.o.duration } : w
      const at = timeAt(whole, box.width, Math.min(Math.max(e.clientX - box.left, 0), box.width))
      this.move(zoom(w, Math.min(Math.max(at, w.from), w.to), Math.exp(by * 0.01), this.o.duration))
      return
    }
    const sideways = e.shiftKey ? e.deltaY || e.deltaX : Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : 0
    if (sideways === 0) return
    e.preventDefault()
    this.move(pan(w, ((sideways * unit) / this.width) * (w.to - w.from), this.o.duration))
  }

  private point(e: PointerEvent): { x: number; y: number } {
    const box = this.parts.picture.getBoundingClientRect()
    return { x: e.clientX - box.left, y: e.clientY - box.top }
  }

  private down(e: PointerEvent): void {
    if (e.button > 1) return
    const p = this.point(e)
    this.hands.set(e.pointerId, p)
    this.over = undefined
    this.tell.hover(undefined, 0, 0)
    this.parts.picture.setPointerCapture(e.pointerId)
    if (this.hands.size === 2) {
      this.gesture = 'pinch'
      this.overlay.dragged = null
    } else {
      // A finger moves the picture, as everywhere; a mouse selects.
      this.gesture = e.button === 1 || e.shiftKey || e.pointerType === 'touch' ? 'pan' : 'select'
      if (e.button === 1) e.preventDefault()
    }
    this.start = { ...p, at: timeAt(this.window, this.width, p.x), window: this.window }
  }

  private motion(e: PointerEvent): void {
    const p = this.point(e)
    if (e.pointerType !== 'touch') this.overlay.pointer = p.x
    const before = this.hands.get(e.pointerId)
    if (!before) {
      this.over = { x: e.clientX, y: e.clientY }
      this.hover(this.scene())
      this.redrawOverlay()
      return
    }
    if (this.gesture === 'pinch') this.pinch(e.pointerId, before, p)
    this.hands.set(e.pointerId, p)
    const far = Math.abs(p.x - this.start.x) > STILL
    if (this.gesture === 'pan' && far) {
      const w = this.start.window
      this.move(pan(w, ((this.start.x - p.x) / this.width) * (w.to - w.from), this.o.duration))
    } else if (this.gesture === 'select' && (far || this.overlay.dragged)) {
      const at = timeAt(this.window, this.width, Math.min(Math.max(p.x, 0), this.width))
      this.overlay.dragged = { from: Math.min(at, this.start.at), to: Math.max(at, this.start.at) }
      this.redrawOverlay()
    }
  }

  // What is under a pointer that does not move changes when the picture does.
  private hover(s: Scene): void {
    if (!this.over) return
    const box = this.parts.picture.getBoundingClientRect()
    this.tell.hover(hit(s, this.over.x - box.left, this.over.y - box.top), this.over.x, this.over.y)
  }

  // pinch keeps the two times under the two fingers.
  private pinch(id: number, before: { x: number }, now: { x: number }): void {
    const other = [...this.hands].find(([k]) => k !== id)?.[1]
    if (!other) return
    const a = timeAt(this.window, this.width, before.x)
    const b = timeAt(this.window, this.width, other.x)
    if (Math.abs(now.x - other.x) < 12 || a === b) return
    const perPixel = (a - b) / (now.x - other.x)
    if (perPixel <= 0) return
    const from = b - other.x * perPixel
    this.move(keep({ from, to: from + perPixel * this.width }, this.o.duration))
  }

  private up(e: PointerEvent): void {
    if (!this.hands.delete(e.pointerId)) return
    const p = this.point(e)
    const { gesture } = this
    if (this.hands.size > 0) return
    this.gesture = 'none'
    const still = Math.abs(p.x - this.start.x) <= STILL && Math.abs(p.y - this.start.y) <= STILL
    const window = this.overlay.dragged
    this.overlay.dragged = null
    this.redrawOverlay()
    if (gesture === 'select' && window && window.to > window.from) {
      const row = this.tree.rowAt(this.start.y + this.pictureTop())
      this.tell.selected(window, row)
    } else if (still && gesture !== 'pinch' && e.button === 0) {
      const h = hit(this.scene(), p.x, p.y)
      if (h) this.tell.chosen(h)
    }
  }

  private cancel(e: PointerEvent): void {
    this.hands.delete(e.pointerId)
    this.gesture = 'none'
    this.overlay.dragged = null
    this.redrawOverlay()
  }

  private leave(): void {
    this.overlay.pointer = null
    this.over = undefined
    this.tell.hover(undefined, 0, 0)
    this.redrawOverlay()
  }

  // In the overview an edge of the window is drawn to make it longer, and its middle moves
  // it. Elsewhere, and everywhere while all is shown, what is dragged over becomes the
  // window, and a click brings it there.
  private listenOverview(on: <K extends keyof HTMLElementEventMap>(el: HTMLElement, type: K, f: (e: HTMLElementEventMap[K]) => void) => void): void {
    const { overview } = this.parts
    let part: Grip | undefined
    let start = 0
    let window = this.window
    let far = false
    const spot = (e: PointerEvent): { at: number; perPixel: number } => {
      const box = overview.getBoundingClientRect()
      return { at: timeAt({ from: 0, to: this.o.duration }, box.width, e.clientX - box.left), perPixel: this.o.duration / box.width }
    }
    const over = (e: PointerEvent): Grip => {
      const { at, perPixel } = spot(e)
      return gripAt(this.window, this.o.duration, at, perPixel)
    }
    on(overview, 'pointerdown', (e) => {
      if (e.button !== 0) return
      overview.setPointerCapture(e.pointerId)
      part = over(e)
      start = spot(e).at
      window = this.window
      far = false
    })
    on(overview, 'pointermove', (e) => {
      if (!part) {
        overview.style.cursor = CURSORS[over(e)]
        return
      }
      const { at, perPixel } = spot(e)
      far ||= Math.abs(at - start) > STILL * perPixel
      if (!far) return
      if (part === 'new') this.put(keep({ from: Math.min(at, start), to: Math.max(at, start + 200) }, this.o.duration))
      else if (part === 'all') this.put(pan(window, at - start, this.o.duration))
      else if (part === 'from') this.put(keep({ from: Math.min(at, window.to - 200), to: window.to }, this.o.duration))
      else this.put(keep({ from: window.from, to: Math.max(at, window.from + 200) }, this.o.duration))
    })
    const end = (): void => {
      const outside = start < window.from || start > window.to
      if (part === 'new' && !far && outside) this.put(pan(window, start - (window.from + window.to) / 2, this.o.duration))
      if (part && (far || outside)) this.tell.jumped(this.window)
      part = undefined
    }
    on(overview, 'pointerup', end)
    on(overview, 'pointercancel', end)
  }
}

/** What of the overview a hand takes hold of: an edge of the window, its middle, or what becomes another. */
export type Grip = 'from' | 'to' | 'all' | 'new'

const CURSORS: Record<Grip, string> = { from: 'ew-resize', to: 'ew-resize', all: 'grab', new: 'crosshair' }

/** gripAt is what is taken hold of at a time, where a pixel is so many nanoseconds. */
export function gripAt(w: Window, duration: number, at: number, perPixel: number): Grip {
  const edge = Math.min(EDGE * perPixel, Math.max(2 * perPixel, (w.to - w.from) / 4))
  const all = w.from <= 0 && w.to >= duration
  if (!all && Math.abs(at - w.from) < edge) return 'from'
  if (!all && Math.abs(at - w.to) < edge) return 'to'
  return all || at < w.from || at > w.to ? 'new' : 'all'
}

// place gives a canvas as many pixels as the screen has for it. Setting its size
// clears it, so it is only done when it changes.
function place(c: HTMLCanvasElement, width: number, height: number, dpr: number, top?: number): void {
  const w = Math.max(1, Math.round(width * dpr))
  const h = Math.max(1, Math.round(height * dpr))
  if (c.width !== w) c.width = w
  if (c.height !== h) c.height = h
  c.style.width = width + 'px'
  c.style.height = height + 'px'
  if (top !== undefined) c.style.transform = `translateY(${top}px)`
}

function wantedBy(s: Sight, lanes: (Lane | undefined)[]): Wanted {
  const level = levelOf(s)
  const [first, last] = tilesOf(s.window, level)
  return { level, first, last, lanes: lanes.flatMap((l) => (l && hasTiles(l) ? [l.id] : [])) }
}

/** overviewOf is the lane that stands for the whole program. */
export function overviewOf(lanes: Lane[]): string {
  for (const kind of ['ps', 'threads', 'g']) {
    const lane = lanes.find((l) => l.kind === kind)
    if (lane) return lane.id
  }
  return lanes.find((l) => hasTiles(l))?.id ?? ''
}
