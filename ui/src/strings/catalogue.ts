// The one catalogue of what the page says: a key, and its text in English and in
// Chinese side by side, so that who changes one sees the other.
//
// The page has them apart (see ui/build/halves.ts): en.ts and zh.ts are all that
// is built of this.
import { core } from './core'
import { data } from './data'
import { flame } from './flame'
import { fleet, instead } from './fleet'
import { live } from './live'
import { timeline } from './timeline'

const run = { ...core, ...timeline, ...flame, ...data, ...live } as const

export const catalogue = { ...run, ...fleet } as const

export type Key = keyof typeof catalogue

export type Texts = Readonly<Record<Key, string>>

type Pairs = Readonly<Record<string, readonly [string, string]>>

/** What the fleet's page has of the texts of a run's: those of the parts that both have. */
const SHARED = /^(core\.(skip|screens?|loading|retry|copy|copied|notcopied|close|theme|lang|help|error|broken|noscreen|confidence|code)|data\.(table|chart|interval)|flame)(\.|$)/

const pages: Record<'run' | 'fleet' | 'all', Pairs> = {
  run,
  fleet: { ...Object.fromEntries(Object.entries(run).filter(([key]) => SHARED.test(key))), ...fleet, ...instead },
  all: catalogue,
}

/** The texts of one language that a page has: 0 is English, 1 Chinese. */
export function half(language: 0 | 1, page: keyof typeof pages = 'all'): Texts {
  return Object.fromEntries(Object.entries(pages[page]).map(([key, pair]) => [key, pair[language]])) as Texts
}
