// The one catalogue of what the page says: a key, and its text in English and in
// Chinese side by side, so that who changes one sees the other.
//
// The page has them apart (see ui/build/halves.ts): en.ts and zh.ts are all that
// is built of this.
import { core } from './core'
import { data } from './data'
import { flame } from './flame'
import { live } from './live'
import { timeline } from './timeline'

export const catalogue = { ...core, ...timeline, ...flame, ...data, ...live } as const

export type Key = keyof typeof catalogue

export type Texts = Readonly<Record<Key, string>>

/** The texts of one language: 0 is English, 1 Chinese. */
export function half(language: 0 | 1): Texts {
  return Object.fromEntries(Object.entries(catalogue).map(([key, pair]) => [key, pair[language]])) as Texts
}
