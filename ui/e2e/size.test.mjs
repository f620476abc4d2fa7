// What a reader waits for stays small: the built page, as it lies beside the server.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'internal', 'show', 'web', 'dist')
const screens = ['live', 'findings', 'timeline', 'flame', 'goroutines', 'standing', 'memory', 'runtime', 'tasks', 'compare', 'number', 'sources']

/** Bytes, packed, of what one screen loads in a fresh browser in one language. */
const SCREEN = 100_000
/**
 * And of all parts in both languages. Nobody loads them all at once; every gowhy
 * binary carries them.
 */
const ALL = 190_000
/** Not packed: a report file is the page as it stands, and is mailed. 5.2% of the largest. */
const REPORT = 520_000

const files = readdirSync(dist).filter((f) => /\.(js|css|html)$/.test(f)).sort()
const text = (f) => readFileSync(join(dist, f), 'utf8')
const packed = (names) => [...names].reduce((sum, f) => sum + gzipSync(readFileSync(join(dist, f)), { level: 9 }).length, 0)
const all = (s, pattern) => [...s.matchAll(pattern)].map((m) => m[1])

// closure is a script with all that it imports, and they import.
function closure(f, into = new Set()) {
  if (into.has(f)) return into
  into.add(f)
  for (const next of all(text(f), /(?:\bfrom|\bimport)\s*["'`]\.\/([\w.-]+\.js)["'`]/g)) closure(next, into)
  return into
}

// fetched are the scripts that a script fetches when they are wanted.
const fetched = (f) => new Set(all(text(f), /\bimport\(\s*["'`]\.\/([\w.-]+\.js)["'`]\s*\)/g))

// styles are those that vite's loader fetches with a screen: numbers of its list.
function styles(screen) {
  const app = text('app.js')
  const list = all(/\.f=\[([^\]]*)\]/.exec(app)?.[1] ?? '', /["'`]\.\/([\w.-]+)["'`]/g)
  const mine = new RegExp(`import\\(\\s*["'\`]\\./${screen}\\.js["'\`]\\s*\\)[^]*?__vite__mapDeps\\(\\[([\\d,]*)\\]\\)`).exec(app)
  return all(mine?.[1] ?? '', /(\d+)/g).map((i) => list[Number(i)])
}

// first is what index.html asks for.
const first = new Set(all(text('index.html'), /(?:src|href)="\.\/([^"]+)"/g))

// loads is what a browser asks for to show a screen.
function loads(screen, language) {
  const scripts = closure(screen + '.js', closure('app.js'))
  return new Set(['index.html', ...first, ...scripts, ...styles(screen), ...(language === 'zh' ? ['zh.js'] : [])])
}

describe('the page of a fleet', () => {
  const fleet = join(dist, '..', '..', '..', '..', 'fleet', 'page', 'dist')
  const parts = readdirSync(fleet).filter((f) => /\.(js|css|html)$/.test(f))
  it('is below 100 KB packed, with all its screens in both languages', () => {
    const size = parts.reduce((sum, f) => sum + gzipSync(readFileSync(join(fleet, f)), { level: 9 }).length, 0)
    console.info(`${parts.length} parts: ${(size / 1000).toFixed(1)} KB`)
    expect(size).toBeLessThan(SCREEN)
  })
  it('has no script and no style in its HTML', () => {
    expect(readFileSync(join(fleet, 'index.html'), 'utf8')).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>|<style|\sstyle=|\son\w+=|modulepreload/i)
  })
})

describe('the built page', () => {
  it('is in the parts that it is made of, each of which something loads', () => {
    expect([...first].filter((f) => f.endsWith('.js'))).toEqual(['app.js'])
    expect([...fetched('app.js')].sort()).toEqual([...screens, 'palette', 'graph', 'held', 'zh'].map((s) => s + '.js').sort())
    for (const f of files.filter((f) => f.endsWith('.js') && f !== 'app.js')) expect([...fetched(f)], f).toEqual([])
    const reached = new Set([...screens.flatMap((s) => [...loads(s, 'zh')]), ...['palette', 'graph', 'held'].flatMap((s) => [...closure(s + '.js'), ...styles(s)])])
    expect([...reached].sort()).toEqual(files)
  })
  it.each(screens.flatMap((s) => [[s, 'en'], [s, 'zh']]))('is below 100 KB packed: %s in %s', (screen, language) => {
    const size = packed(loads(screen, language))
    console.info(`${screen} in ${language}: ${(size / 1000).toFixed(1)} KB`)
    expect(size).toBeLessThan(SCREEN)
  })
  it('is of a sensible size in all', () => {
    const whole = ['report/app.js', 'report/index.css'].reduce((sum, f) => sum + readFileSync(join(dist, f)).length, 0)
    console.info(`all parts: ${(packed(files) / 1000).toFixed(1)} KB packed; in a report file: ${(whole / 1000).toFixed(1)} KB`)
    expect(packed(files)).toBeLessThan(ALL)
    expect(whole).toBeLessThan(REPORT)
  })
  it('brings a reader of English no Chinese', () => {
    for (const screen of screens) {
      const words = [...loads(screen, 'en')].flatMap((f) => all(text(f), /(\p{Script=Han}{2,})/gu))
      expect(words, screen).toEqual([])
    }
    expect(text('zh.js')).toMatch(/\p{Script=Han}/u)
  })
  it('has no script and no style in its HTML', () => {
    for (const f of ['index.html', 'report/index.html']) {
      expect(text(f)).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>|<style|\sstyle=|\son\w+=|modulepreload/i)
    }
  })
  it('is one script and one style for a report file', () => {
    expect(readdirSync(join(dist, 'report')).sort()).toEqual(['app.js', 'index.css', 'index.html'])
    expect([...closure('report/app.js')]).toEqual(['report/app.js'])
    expect([...fetched('report/app.js')]).toEqual([])
  })
  it('names nothing outside of itself but the names of XML', () => {
    const known = /^http:\/\/www\.w3\.org\//
    for (const f of [...files, 'report/app.js', 'report/index.css', 'report/index.html']) {
      expect([...text(f).matchAll(/https?:\/\/[\w.-]+[^\s"'`)]*/g)].map((m) => m[0]).filter((u) => !known.test(u) && !u.startsWith('http://localhost')), f).toEqual([])
    }
  })
})
