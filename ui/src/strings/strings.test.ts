import { afterEach, describe, expect, it } from 'vitest'
import { catalogue } from './catalogue'
import { core } from './core'
import { data } from './data'
import { flame } from './flame'
import { fleet, instead } from './fleet'
import { lang, setLang, t, tn, type Key } from './index'
import { live } from './live'
import { timeline } from './timeline'

const parts: Record<string, Record<string, readonly [string, string]>> = { core, timeline, flame, data, live, fleet }
const all = Object.entries(parts).flatMap(([part, c]) => Object.entries(c).map(([key, texts]) => ({ part, key, texts })))
const replaced = Object.entries(instead).map(([key, texts]) => ({ part: 'instead', key, texts }))
const placeholders = (s: string) => [...s.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort()

describe('the catalogue', () => {
  it('has every text in both languages', () => {
    expect([...all, ...replaced].filter(({ texts }) => texts.length !== 2 || texts.some((s) => s.trim() === '')).map((e) => e.key)).toEqual([])
  })
  it('has the same placeholders in both', () => {
    expect([...all, ...replaced].filter(({ texts: [en, zh] }) => placeholders(en).join() !== placeholders(zh).join()).map((e) => e.key)).toEqual([])
  })
  it('has no key twice', () => {
    expect(Object.keys(catalogue)).toHaveLength(all.length)
  })
  it('says in other words only what is said', () => {
    const args = (s: string) => [...new Set(placeholders(s))].join()
    expect(replaced.filter(({ key }) => !Object.hasOwn(catalogue, key)).map((e) => e.key)).toEqual([])
    expect(replaced.filter(({ key, texts }) => placeholders(texts[0]).some((a) => !args(catalogue[key as Key][0]).includes(a!))).map((e) => e.key)).toEqual([])
  })
  it('has no Chinese in English texts', () => {
    const han = /\p{Script=Han}/u
    expect(all.filter(({ texts: [en] }) => han.test(en)).map((e) => e.key)).toEqual([])
  })
})

describe('a text', () => {
  afterEach(() => setLang('en'))
  it('has its arguments filled in, and nothing else', () => {
    expect(t('core.lost', { n: '5 B' })).toBe('5 B lost')
    expect(t('core.lost', { m: 1 })).toBe('{n} lost')
    expect(t('core.lost', { n: '{n} $& <b>' })).toBe('{n} $& <b> lost')
  })
  it('follows the language', async () => {
    await setLang('zh')
    expect(t('core.copy')).toBe('复制')
  })
  it('is of the language that was chosen last, whichever comes first', async () => {
    const chinese = setLang('zh')
    await Promise.all([chinese, setLang('en')])
    expect(lang()).toBe('en')
    expect(t('core.copy')).toBe('Copy')
  })
  it('of a name from elsewhere is that name where the catalogue has none', () => {
    expect(tn('core.nonsense', 'x')).toBe('x')
    expect(tn('toString')).toBe('toString')
    expect(tn('core.copy' satisfies Key)).toBe('Copy')
  })
})
