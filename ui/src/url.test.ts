import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

// A browser's history, as far as url.ts uses it.
class FakeWindow extends EventTarget {
  entries = ['#/findings?r=0']
  index = 0
  get hash(): string {
    return this.entries[this.index] ?? ''
  }
  pushState(_: unknown, __: string, to: string): void {
    this.entries = [...this.entries.slice(0, this.index + 1), to]
    this.index++
  }
  replaceState(_: unknown, __: string, to: string): void {
    this.entries[this.index] = to
  }
  back(): void {
    this.index--
    this.dispatchEvent(new Event('popstate'))
  }
}

let win: FakeWindow
let url: typeof import('./url')

beforeEach(async () => {
  vi.useFakeTimers()
  vi.resetModules()
  win = new FakeWindow()
  vi.stubGlobal('window', win)
  vi.stubGlobal('location', win)
  vi.stubGlobal('history', win)
  url = await import('./url')
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('a link', () => {
  it('is read with and without the hash', () => {
    for (const link of ['timeline?from=1&to=2', '#/timeline?from=1&to=2', '/timeline?from=1&to=2']) {
      const p = url.parse(link)
      expect(p.screen).toBe('timeline')
      expect(p.params.get('to')).toBe('2')
    }
  })
  it('that names no screen leads home', () => {
    expect(url.parse('').screen).toBe('findings')
    expect(url.parse('#/<img src=x>').screen).toBe('findings')
  })
  it('has one address, whatever the order of its parameters', () => {
    expect(url.format(url.parse('flame?b=2&a=1'))).toBe('#/flame?a=1&b=2')
  })
  it('keeps names that have signs in them', () => {
    const name = 'a&b=c#d %ü\u0000\u001b[31m<img src=x onerror=1>'
    url.setParams({ g: name })
    expect(url.parse(win.hash).params.get('g')).toBe(name)
    expect(win.hash).not.toMatch(/[<> \u001b]/)
  })
  it('keeps the run unless it names one', () => {
    url.go('timeline?from=1&r=3')
    expect(url.param('r')).toBe('3')
    url.go('flame?kind=cpu')
    expect(win.hash).toBe('#/flame?kind=cpu&r=3')
    expect(url.href('tasks')).toBe('#/tasks?r=3')
    expect(url.href('tasks?r=1')).toBe('#/tasks?r=1')
  })
})

describe('a page with other rules', () => {
  it('has its own home, and takes along what it says', () => {
    url.follow({ home: 'services', carry: (here, to) => url.carryAll(['span', 'from'], here, to) })
    expect(url.parse('').screen).toBe('services')
    url.go('versions?span=1h&q=x')
    expect(url.href('flame')).toBe('#/flame?span=1h')
    expect(url.href('flame?span=7d')).toBe('#/flame?span=7d')
  })
})

describe('history', () => {
  it('leads back to each place that was gone to', () => {
    url.go('timeline?from=1')
    url.go('flame')
    win.back()
    expect(win.hash).toBe('#/timeline?from=1&r=0')
    expect(url.param('from')).toBe('1')
  })
  it('gets no entry for a place that is there already', () => {
    url.go('findings')
    expect(win.entries).toHaveLength(1)
  })
  it('gets one write for many replaced places, and they hold at once', () => {
    const write = vi.spyOn(win, 'replaceState')
    for (let i = 1; i <= 100; i++) {
      url.setParams({ from: i }, { replace: true })
      expect(url.param('from')).toBe(String(i))
    }
    expect(write).not.toHaveBeenCalled()
    vi.runAllTimers()
    expect(write).toHaveBeenCalledOnce()
    expect(win.hash).toBe('#/findings?from=100&r=0')
  })
  it('has a replaced place before the next one', () => {
    url.setParams({ from: 5 }, { replace: true })
    url.go('flame')
    win.back()
    expect(win.hash).toBe('#/findings?from=5&r=0')
    expect(url.param('from')).toBe('5')
  })
  it('is not overwritten by a place that was left meanwhile', () => {
    url.go('timeline')
    url.setParams({ from: 5 }, { replace: true })
    win.back()
    vi.runAllTimers()
    expect(win.hash).toBe('#/findings?r=0')
    expect(url.param('from')).toBeNull()
  })
  it('forgets a parameter that is null', () => {
    url.setParams({ from: 5 })
    url.setParams({ from: null })
    expect(win.hash).toBe('#/findings?r=0')
  })
})
