// What the page says, in English and Chinese. Names, words of the runtime and the
// sentences of a diagnosis come from the server and are not translated: they are
// what the reader searches for.
//
// English is part of the page. Chinese is fetched when it is first wanted, and
// until it is there the page stays in the language that it has.
import { useEffect, useState } from 'preact/hooks'
import type { Key, Texts } from './catalogue'
import { texts as english } from './en'

export type { Key } from './catalogue'

export type Lang = 'en' | 'zh'

const STORE = 'gowhy.lang'
const listeners = new Set<() => void>()
let present: Lang = first()
let wanted: Lang = present
let chinese: Texts | undefined

/** The text of a key, with {name} replaced by the arguments. */
export function t(key: Key, args?: Record<string, string | number>): string {
  const text = (present === 'zh' && chinese ? chinese : english)[key]
  if (!args) return text
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(args, name) ? String(args[name]) : whole))
}

/** The text of a key that the server named, or what to show when it has none. */
export function tn(key: string, otherwise: string = key): string {
  return Object.hasOwn(english, key) ? t(key as Key) : otherwise
}

export function lang(): Lang {
  return present
}

/**
 * Changes the language, and resolves when the page speaks it. When its texts cannot
 * be had it rejects, and the page keeps the language that it has.
 */
export async function setLang(next: Lang): Promise<void> {
  wanted = next
  try {
    if (next === 'zh') await fetchChinese()
  } catch (e) {
    wanted = present
    throw e
  }
  if (wanted !== next) return // changed again meanwhile
  present = next
  try {
    localStorage.setItem(STORE, next)
  } catch {
    // A page from a file may have no storage; the choice then lasts as long as the page.
  }
  tell()
}

/** Resolves when the page can speak the language that it begins with. */
export async function spoken(): Promise<void> {
  if (present === 'en') return
  try {
    await fetchChinese()
  } catch {
    present = wanted = 'en' // the choice stays kept: next time it may come
    tell()
  }
}

async function fetchChinese(): Promise<void> {
  chinese ??= (await import('./zh')).texts
}

/** The language; the component renders again when it changes. */
export function useLang(): Lang {
  const [now, set] = useState(present)
  useEffect(() => {
    const changed = () => set(present)
    listeners.add(changed)
    return () => void listeners.delete(changed)
  }, [])
  return now
}

function tell(): void {
  if (typeof document !== 'undefined') document.documentElement.lang = present === 'zh' ? 'zh-CN' : 'en'
  for (const listener of [...listeners]) listener()
}

function first(): Lang {
  try {
    const kept = localStorage.getItem(STORE)
    if (kept === 'en' || kept === 'zh') return kept
  } catch {
    // No storage: the browser's language decides.
  }
  return typeof navigator !== 'undefined' && /^zh\b/i.test(navigator.language ?? '') ? 'zh' : 'en'
}

tell()
