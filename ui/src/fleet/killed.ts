// Programs that the kernel killed for want of memory, of which there is evidence from before.
import { plain } from '../flame/text'
import { bytes, dur } from '../format'
import { t } from '../strings'
import type { Recording } from './api'
import { momentText } from './time'

/** So many are shown. */
const MOST = 5

/** The recordings of programs that were killed, the last first, and how many more there are. */
export function killsOf(runs: Recording[]): { shown: Recording[]; more: number } {
  const all = runs.filter((r) => r.killed).sort((a, b) => Date.parse(b.killed!.at) - Date.parse(a.killed!.at))
  return { shown: all.slice(0, MOST), more: Math.max(0, all.length - MOST) }
}

/** When and by what it was killed, and how old the evidence was. */
export function killedText(r: Recording): string {
  const k = r.killed!
  const time = momentText(Date.parse(k.at))
  const text = k.limit_bytes ? t('fleet.killed.limit', { time, limit: `${plain(k.of ?? '')} (${bytes(k.limit_bytes)})`.trim() }) : t('fleet.killed.machine', { time })
  return k.age_ns === undefined ? t('fleet.killed.end', { text }) : t('fleet.killed.age', { text, age: dur(k.age_ns) })
}
