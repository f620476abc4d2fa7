// Tiles kept and asked for.
//
// Problem: the picture moves sixty times in a second and needs, at each moment,
// some hundred tiles of lanes; a request takes milliseconds. So drawing never
// waits: it takes what is there, a coarser tile stretched where the right one is
// not, and says what it would have liked. Requests go out for all lanes of a
// tile together, the tiles in sight first, then one more on each side; what is
// out of sight before it came is cancelled. What came is kept, the least recently
// drawn thrown away when it is more than a bound.
import { decode, type LaneTile, type TileAnswer } from './decode'
import { BUCKETS } from './window'

/** A Kept is a tile with what drawing added to it; see paint.ts. */
export interface Kept {
  tile: LaneTile
  picture?: Picture | undefined
}

export interface Picture {
  image: CanvasImageSource & { close?: () => void }
  /** What it was painted with: it is painted again when that changed. */
  key: string
  /** The highest column, in the lane's unit: what the picture's full height stands for. */
  top: number
  bytes: number
}

/** A bounded map that forgets what was used longest ago. */
export class Recent<V> {
  private map = new Map<string, { value: V; bytes: number }>()
  private sum = 0

  constructor(
    private readonly most: number,
    private readonly gone: (value: V) => void = () => {},
  ) {}

  get bytes(): number {
    return this.sum
  }

  get size(): number {
    return this.map.size
  }

  /** get also makes it the most recent. */
  get(key: string): V | undefined {
    const e = this.map.get(key)
    if (!e) return undefined
    this.map.delete(key)
    this.map.set(key, e)
    return e.value
  }

  has(key: string): boolean {
    return this.map.has(key)
  }

  set(key: string, value: V, bytes: number): void {
    const old = this.map.get(key)
    if (old) {
      this.sum -= old.bytes
      this.map.delete(key)
      if (old.value !== value) this.gone(old.value)
    }
    this.map.set(key, { value, bytes })
    this.sum += bytes
    for (const [k, e] of this.map) {
      if (this.sum <= this.most || k === key) break
      this.map.delete(k)
      this.sum -= e.bytes
      this.gone(e.value)
    }
  }

  clear(): void {
    for (const e of this.map.values()) this.gone(e.value)
    this.map.clear()
    this.sum = 0
  }
}

export interface Wanted {
  level: number
  first: number
  last: number
  /** In order of importance. */
  lanes: string[]
}

interface Request {
  level: number
  tile: number
  lanes: string[]
  stop: AbortController
}

export type Fetch = (level: number, tile: number, lanes: string[], signal: AbortSignal) => Promise<ArrayBuffer>

/** Browsers keep six connections to a host: four leave some for the panels. */
const AT_ONCE = 4
/** Lanes in one request: what fits in a URL however long their ids are, within reason. */
const LANES = 48
/** When so long nobody said what is wanted, it does not move. */
const REST_MS = 60
/** A tile that failed is not asked for again before this. */
const RETRY_MS = 4000
/** One that the server is still reading for, before this. */
const AGAIN_MS = 250

export class Tiles {
  private readonly kept: Recent<Kept>
  private wanted: Wanted[] = []
  private flying = new Map<string, Request>() // by key of each lane's tile
  private requests = new Set<Request>()
  private later = new Map<string, number>() // not to be asked for before
  private timer: ReturnType<typeof setTimeout> | undefined
  private due = 0
  private moved = -Infinity // when was last said what is wanted
  private done = false

  constructor(
    private readonly o: {
      fetch: Fetch
      states: number
      /** A tile came: draw again. */
      came: () => void
      failed: (e: unknown) => void
      maxLevel: number
      maxTile?: (level: number) => number
      bytes?: number
      now?: () => number
    },
  ) {
    this.kept = new Recent<Kept>(o.bytes ?? 96 << 20, (k) => k.picture?.image.close?.())
  }

  static key(level: number, tile: number, lane: string): string {
    return `${level}/${tile}/${lane}`
  }

  get(level: number, tile: number, lane: string): Kept | undefined {
    return this.kept.get(Tiles.key(level, tile, lane))
  }

  /** Not one has come yet. */
  get none(): boolean {
    return this.kept.size === 0
  }

  /** best is the tile or else the finest of the coarser ones that hold it. */
  best(level: number, tile: number, lane: string): { kept: Kept; level: number; tile: number } | undefined {
    for (let l = level, k = tile; l <= this.o.maxLevel; l++, k = Math.floor(k / 2)) {
      const kept = this.get(l, k, lane)
      if (kept) return { kept, level: l, tile: k }
    }
    return undefined
  }

  /** put keeps tiles that came some other way. */
  put(answer: TileAnswer): void {
    for (const [lane, tile] of answer.lanes) this.kept.set(Tiles.key(answer.level, answer.tile, lane), { tile }, tile.bytes)
    this.o.came()
  }

  /** painted tells that drawing has put a picture to a tile. */
  painted(level: number, tile: number, lane: string, kept: Kept): void {
    this.kept.set(Tiles.key(level, tile, lane), kept, kept.tile.bytes + (kept.picture?.bytes ?? 0))
  }

  /**
   * want says what is in sight now, which replaces what was said before. Each is
   * drawn with neighbours in mind: one tile more on both sides is fetched when
   * everything in sight is there.
   */
  want(wanted: Wanted[]): void {
    this.wanted = wanted
    for (const r of [...this.requests]) {
      const useful = wanted.some(
        (w) => w.level === r.level && r.tile >= w.first - 1 && r.tile <= w.last + 1 && r.lanes.some((l) => w.lanes.includes(l)),
      )
      if (!useful) {
        r.stop.abort()
        this.land(r)
      }
    }
    // At once after a rest. But a wheel's turn or a scroll asks for many things of
    // which only the last is seen.
    const at = this.now()
    if (at - this.moved > REST_MS) this.pump()
    else this.wake(16)
    this.moved = at
  }

  close(): void {
    this.done = true
    clearTimeout(this.timer)
    this.timer = undefined
    for (const r of this.requests) r.stop.abort()
    this.requests.clear()
    this.flying.clear()
    this.kept.clear()
  }

  private pump(): void {
    if (this.done) return
    for (const near of [true, false]) {
      for (const w of this.wanted) {
        for (const tile of order(w, near, this.o.maxTile?.(w.level))) {
          if (this.requests.size >= AT_ONCE) return
          const lanes = w.lanes.filter((l) => this.missing(w.level, tile, l))
          for (let i = 0; i < lanes.length && this.requests.size < AT_ONCE; i += LANES) {
            this.send({ level: w.level, tile, lanes: lanes.slice(i, i + LANES), stop: new AbortController() })
          }
        }
      }
      // Neighbours only when what is in sight is all there.
      if (this.requests.size > 0) return
    }
  }

  private missing(level: number, tile: number, lane: string): boolean {
    const key = Tiles.key(level, tile, lane)
    if (this.kept.has(key) || this.flying.has(key)) return false
    const at = this.later.get(key)
    return at === undefined || this.now() >= at
  }

  private now(): number {
    return this.o.now?.() ?? performance.now()
  }

  private send(r: Request): void {
    this.requests.add(r)
    for (const l of r.lanes) this.flying.set(Tiles.key(r.level, r.tile, l), r)
    this.o
      .fetch(r.level, r.tile, r.lanes, r.stop.signal)
      .then((buffer) => {
        if (r.stop.signal.aborted) return
        const answer = decode(buffer, this.o.states)
        for (const l of r.lanes) {
          const tile = answer.lanes.get(l)
          const key = Tiles.key(r.level, r.tile, l)
          if (tile) this.kept.set(key, { tile }, tile.bytes)
          else this.defer(key, answer.pending.has(l) ? AGAIN_MS : RETRY_MS)
        }
        if (answer.pending.size > 0) this.wake(AGAIN_MS + 5)
        this.land(r)
        this.o.came()
      })
      .catch((e: unknown) => {
        if (r.stop.signal.aborted) return
        for (const l of r.lanes) this.defer(Tiles.key(r.level, r.tile, l), RETRY_MS)
        this.land(r)
        this.o.failed(e)
      })
      .finally(() => this.pump())
  }

  private defer(key: string, ms: number): void {
    if (this.later.size > 10_000) this.later.clear()
    this.later.set(key, this.now() + ms)
  }

  // wake looks again at what is wanted, so many milliseconds later or sooner.
  private wake(ms: number): void {
    const due = this.now() + ms
    if (this.done || (this.timer !== undefined && this.due <= due)) return
    clearTimeout(this.timer)
    this.due = due
    this.timer = setTimeout(() => {
      this.timer = undefined
      this.pump()
    }, ms)
  }

  private land(r: Request): void {
    if (!this.requests.delete(r)) return
    for (const l of r.lanes) {
      const key = Tiles.key(r.level, r.tile, l)
      if (this.flying.get(key) === r) this.flying.delete(key)
    }
  }
}

/** order are the tiles in sight from the middle outwards, or their neighbours. */
function order(w: Wanted, near: boolean, most = Infinity): number[] {
  if (!near) return [w.last + 1, w.first - 1].filter((t) => t >= 0 && t <= most)
  const tiles: number[] = []
  const middle = (w.first + w.last) / 2
  for (let t = w.first; t <= w.last; t++) if (t <= most) tiles.push(t)
  return tiles.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))
}

/** partOf is where a tile lies in a coarser one: the first bucket and how many. */
export function partOf(level: number, tile: number, coarse: number, coarseTile: number): { from: number; count: number } {
  const scale = 2 ** (coarse - level)
  const count = BUCKETS / scale
  return { from: (tile - coarseTile * scale) * count, count }
}
