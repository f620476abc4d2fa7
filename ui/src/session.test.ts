import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Run, Session } from './api'
import { follow } from './session'

afterEach(() => vi.unstubAllGlobals())

const run = (loading: boolean): Run => ({ loading }) as Run

function session(change: number, loading: string, runs: Run[]): Session {
  return { version: '', runs, trials: [], static: false, live: false, loading, change }
}

/** serve answers with one session after another, and then not at all. */
function serve(sessions: Session[]): { asked: string[]; signals: (AbortSignal | null | undefined)[] } {
  const seen = { asked: [] as string[], signals: [] as (AbortSignal | null | undefined)[] }
  const left = [...sessions]
  vi.stubGlobal('fetch', (where: string, init: RequestInit) => {
    seen.asked.push(where)
    seen.signals.push(init.signal)
    const next = left.shift()
    if (next) return Promise.resolve(new Response(JSON.stringify(next)))
    return new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
  })
  return seen
}

describe('a session', () => {
  it('is followed by its changes until all is read', async () => {
    const states = [session(3, 'a 10%', [run(true)]), session(3, 'a 50%', [run(true)]), session(4, 'b', [run(false), run(true)]), session(5, '', [run(false), run(false)])]
    const { asked } = serve(states)
    const told: Session[] = []
    await follow((s) => told.push(s), new AbortController().signal)
    expect(asked).toEqual(['api/session', 'api/session?since=3', 'api/session?since=3', 'api/session?since=4'])
    expect(told).toEqual(states)
  })
  it('that is all read is asked for once', async () => {
    const { asked } = serve([session(1, '', [run(false)]), session(2, '', [])])
    await follow(() => {}, new AbortController().signal)
    expect(asked).toEqual(['api/session'])
  })
  it('is followed while something dropped is read, though no run is named yet', async () => {
    const { asked } = serve([session(1, 'dropped.out', []), session(2, '', [run(false)])])
    await follow(() => {}, new AbortController().signal)
    expect(asked).toEqual(['api/session', 'api/session?since=1'])
  })
  it('is left as soon as nobody listens', async () => {
    const { asked, signals } = serve([session(1, 'a', [run(true)])])
    const stop = new AbortController()
    const told = vi.fn()
    const ended = follow(told, stop.signal)
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    stop.abort()
    await expect(ended).rejects.toThrow()
    expect(signals[1]?.aborted).toBe(true)
    expect(told).toHaveBeenCalledTimes(1)
  })
  it('that the server no longer tells is an error', async () => {
    const { asked } = serve([session(1, 'a', [run(true)])])
    const answer = fetch
    vi.stubGlobal('fetch', (where: string, init: RequestInit) => (asked.length > 0 ? Promise.reject(new TypeError('gone')) : answer(where, init)))
    await expect(follow(() => {}, new AbortController().signal)).rejects.toThrow(/not answer/)
  })
})
