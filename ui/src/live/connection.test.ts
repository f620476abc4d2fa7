import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LiveNews } from '../api'
import { Connection, type Source, type Status } from './connection'
import { event } from './testing'

class Fake implements Source {
  static all: Fake[] = []
  readyState = 0
  onopen: Source['onopen'] = null
  onerror: Source['onerror'] = null
  onmessage: Source['onmessage'] = null
  constructor(readonly url: string) {
    Fake.all.push(this)
  }
  open(): void {
    this.readyState = 1
    this.onopen?.({} as Event)
  }
  say(news: Partial<LiveNews> | string): void {
    this.onmessage?.({ data: typeof news === 'string' ? news : JSON.stringify(event(news)) } as MessageEvent<string>)
  }
  /** 0: the browser tries again; 2: it gave up. */
  fail(readyState: 0 | 2): void {
    this.readyState = readyState
    this.onerror?.({} as Event)
  }
  close(): void {
    this.readyState = 2
  }
}

let heard: LiveNews[], told: Status[], connection: Connection
const last = (): Fake => Fake.all.at(-1)!

beforeEach(() => {
  vi.useFakeTimers({ now: 5000 })
  Fake.all = []
  heard = []
  told = []
  connection = new Connection('api/live?pid=7', (n) => heard.push(n), (s) => told.push(s), (url) => new Fake(url))
})
afterEach(() => {
  connection.close()
  vi.useRealTimers()
})

describe('a connection', () => {
  it('is live with the first event', () => {
    expect(connection.status).toEqual({ at: 'connecting' })
    last().open()
    expect(connection.status.at).toBe('connecting')
    last().say({ at_ms: 3 })
    last().say({ at_ms: 4 })
    expect(told).toEqual([{ at: 'live' }])
    expect(heard.map((n) => n.at_ms)).toEqual([3, 4])
    expect(Fake.all.map((f) => f.url)).toEqual(['api/live?pid=7'])
  })
  it('that is lost is the browser’s to make again', () => {
    last().open()
    last().say({})
    last().fail(0)
    vi.advanceTimersByTime(5000)
    last().fail(0)
    expect(told).toEqual([{ at: 'live' }, { at: 'lost', since: 5000 }])
    expect(Fake.all).toHaveLength(1)
    last().open()
    last().say({})
    expect(told.at(-1)).toEqual({ at: 'live' })
  })
  it('that the browser gave up is made anew, later and later, and as quick again after an event', () => {
    const waits: number[] = []
    for (let i = 0; i < 6; i++) {
      const n = Fake.all.length
      last().fail(2)
      const before = Date.now()
      while (Fake.all.length === n) vi.advanceTimersByTime(500)
      waits.push(Date.now() - before)
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000])
    expect(told).toEqual([{ at: 'lost', since: 5000 }])
    last().say({})
    last().fail(2)
    vi.advanceTimersByTime(1000)
    expect(Fake.all).toHaveLength(8)
  })
  it('in name only is made anew', () => {
    last().open()
    last().say({})
    vi.advanceTimersByTime(14_000)
    expect(connection.status.at).toBe('live')
    vi.advanceTimersByTime(2000)
    expect(told.at(-1)).toEqual({ at: 'lost', since: 20_000 })
    expect(Fake.all[0]!.readyState).toBe(2)
    vi.advanceTimersByTime(1000)
    expect(Fake.all).toHaveLength(2)
  })
  it('may be as quiet as who watches is slow, and all the time when the program ended', () => {
    last().say({ cost: { cores: 0, budget: 0, every_ms: 10_000 } })
    vi.advanceTimersByTime(45_000)
    expect(connection.status.at).toBe('live')
    last().say({ ended: true })
    vi.advanceTimersByTime(3_600_000)
    expect(connection.status.at).toBe('live')
  })
  it('that brings no JSON lives on', () => {
    const complained = vi.spyOn(console, 'error').mockImplementation(() => {})
    last().say('{')
    last().say({ at_ms: 9 })
    expect(complained).toHaveBeenCalledTimes(1)
    expect(heard.map((n) => n.at_ms)).toEqual([9])
    complained.mockRestore()
  })
  it('brings names in which nothing is hidden', () => {
    last().say({ unread: 'a\u202eb\u001b[31m' })
    expect(heard[0]!.unread).toBe('a\\u202eb\\x1b[31m')
  })
  it('that was closed says nothing more and is not made again', () => {
    const source = last()
    source.fail(2)
    connection.close()
    source.say({})
    vi.advanceTimersByTime(60_000)
    expect(heard).toEqual([])
    expect(Fake.all).toHaveLength(1)
  })
})
