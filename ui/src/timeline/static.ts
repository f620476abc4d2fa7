// The timeline inside a report file: excerpts of the recording. Which tiles are in
// it is told by the questions that the file has answers to.
import { answered, bytes } from '../client'
import { decode, type TileAnswer } from './decode'
import { tileNs, type Window } from './window'

const PATH = 'api/timeline/tiles'

export interface Excerpts {
  /** The levels that the file has tiles of. */
  levels: number[]
  /** The windows that are in it near, in order of time: what leads to evidence. */
  windows: Window[]
  load(states: number): Promise<TileAnswer[]>
}

interface Held {
  level: number
  tile: number
  lanes: string | undefined
}

export function excerpts(r: number, duration: number): Excerpts {
  const held: Held[] = answered(PATH)
    .filter((p) => Number(p.get('r') ?? 0) === r)
    .map((p) => ({ level: Number(p.get('level')), tile: Number(p.get('tile')), lanes: p.get('lanes') ?? undefined }))
    .filter((h) => Number.isInteger(h.level) && Number.isInteger(h.tile))
  return {
    levels: [...new Set(held.map((h) => h.level))].sort((a, b) => a - b),
    windows: windowsOf(held, duration),
    load: async (states) => {
      const out: TileAnswer[] = []
      for (const h of held) {
        try {
          out.push(decode(await bytes(PATH, { r, level: h.level, tile: h.tile, lanes: h.lanes }), states))
        } catch {
          // One tile that cannot be read is one hole in the picture.
        }
      }
      return out
    },
  }
}

/** windowsOf joins neighbouring tiles of each level; a level that has all of the recording is the overview, and no window. */
export function windowsOf(held: { level: number; tile: number }[], duration: number): Window[] {
  const byLevel = new Map<number, Set<number>>()
  for (const h of held) byLevel.set(h.level, (byLevel.get(h.level) ?? new Set()).add(h.tile))
  const out: Window[] = []
  for (const [level, tiles] of byLevel) {
    const wide = tileNs(level)
    const all = Math.max(1, Math.ceil(duration / wide))
    if (tiles.size >= all) continue
    const sorted = [...tiles].sort((a, b) => a - b)
    let first = sorted[0]!
    sorted.forEach((tile, i) => {
      if (sorted[i + 1] === tile + 1) return
      out.push({ from: first * wide, to: Math.min((tile + 1) * wide, duration) })
      first = sorted[i + 1] ?? 0
    })
  }
  return out.sort((a, b) => a.from - b.from || a.to - b.to)
}
