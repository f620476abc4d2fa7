// The page is part of every gowhy binary and every report file: it stays small.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'internal', 'web', 'dist')

describe('the built page', () => {
  const files = readdirSync(dist)
  it('has the names that the server knows', () => {
    expect(files.filter((f) => /\.(js|css|html)$/.test(f)).sort()).toEqual(['app.js', expect.stringMatching(/\.css$/), 'index.html'])
  })
  it('is below 100 KB when packed', () => {
    const sizes = files.filter((f) => /\.(js|css)$/.test(f)).map((f) => gzipSync(readFileSync(join(dist, f)), { level: 9 }).length)
    expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThan(100_000)
  })
  it('has no script and no style in its HTML', () => {
    const html = readFileSync(join(dist, 'index.html'), 'utf8')
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>|<style|\sstyle=|\son\w+=/i)
  })
  it('names nothing outside of itself but the names of XML', () => {
    const known = /^http:\/\/www\.w3\.org\//
    for (const f of files.filter((f) => /\.(js|css|html)$/.test(f))) {
      const text = readFileSync(join(dist, f), 'utf8')
      expect([...text.matchAll(/https?:\/\/[\w.-]+[^\s"'`)]*/g)].map((m) => m[0]).filter((u) => !known.test(u) && !u.startsWith('http://localhost'))).toEqual([])
    }
  })
})
