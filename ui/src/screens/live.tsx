// A program while it runs: what it does, what is wrong with it now, and since when.
//
// The picture moves with the newest point until it is paused or a window is chosen;
// it then shows the feed as it was at that moment, while the page goes on listening.
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { LiveKept, LiveMemory, LivePiece, Session } from '../api'
import { get, post, problem, useData, type ApiError } from '../client'
import { Account } from '../data/account'
import { flip, hiddenOf, listOf, setOf } from '../data/choices'
import { Clock } from '../data/clock'
import { useClock } from '../data/hooks'
import type { Range } from '../data/series'
import { dur } from '../format'
import { useKeys } from '../keys'
import { marksOf, useCharts } from '../live/charts'
import type { Status } from '../live/connection'
import { fromClock, fullRange, newest, toClock, type Feed } from '../live/feed'
import { Findings } from '../live/findings'
import { Goroutines } from '../live/goroutines'
import { Heard, Hero } from '../live/hero'
import { wall, wallTimes } from '../live/times'
import { useLive } from '../live/use'
import { asked, readView, spanBeside, SPANS, type Window } from '../live/view'
import { Chart, type ChartSpan } from '../parts/chart'
import { say } from '../parts/live'
import { Empty, Failed } from '../parts/states'
import { renew } from '../session'
import { t, tn } from '../strings'
import { href, setParams, usePlace } from '../url'
import '../data/data.css'
import './live.css'

type Graph = (p: { pid: number; window: Window }) => JSX.Element

/** The screen with a flame graph whose code comes later. */
export function liveWith(graph: Graph): (p: { r: number }) => JSX.Element {
  return () => <Live graph={graph} />
}

function Live(p: { graph: Graph }): JSX.Element {
  const { params } = usePlace()
  const { pid } = readView(params)
  const { feed, status } = useLive(pid)
  const name = feed?.news.program?.name
  useEffect(() => {
    if (name !== undefined) document.title = `${name} · ${t('core.screen.live')} · gowhy`
  }, [name])
  if (feed?.news.program) return <Watched key={pid ?? ''} graph={p.graph} feed={feed} status={status} />
  return (
    <div class="state" role={status.at === 'lost' ? 'alert' : undefined}>
      <p><Heard status={status} stopped={false} ended={false} /></p>
      <p class="muted">{status.at === 'lost' ? t('live.lost.hint') : t(feed ? 'live.noprogram' : 'live.waiting')}</p>
    </div>
  )
}

interface Stand {
  /** What the picture is of. */
  feed: Feed
  range: Range
  /** The window that was chosen. */
  window: Window | null
  span: number
  stopped: boolean
  /** How far the picture is behind, ms. */
  behind: number
  choose(r: Range | null): void
  pause(): void
  /** Ends the pause, not the choice of a window. */
  release(): void
  goOn(): void
}

// useStand is what the picture shows: it moves, or it stands.
function useStand(live: Feed): Stand {
  const { params } = usePlace()
  const { span, window } = readView(params)
  const [held, hold] = useState<number | null>(null)
  const stopped = window !== null || held !== null
  const kept = useRef<Feed | undefined>(undefined)
  kept.current = stopped ? kept.current ?? live : undefined
  const feed = kept.current ?? live
  const end = window?.to ?? held ?? newest(live)
  const from = window?.from ?? end - span * 1000
  const range = useMemo((): Range => [toClock(feed, from), toClock(feed, end)], [feed.base, from, end])
  return {
    feed, range, window, span, stopped,
    behind: Math.max(0, newest(live) - end),
    choose: (r) => {
      if (r) setParams({ from: fromClock(feed, r[0]), to: Math.max(fromClock(feed, r[0]) + 1, fromClock(feed, r[1])) })
      else {
        hold(null)
        setParams({ from: null, to: null })
      }
    },
    pause: () => hold(newest(live)),
    release: () => hold(null),
    goOn: () => {
      hold(null)
      setParams({ from: null, to: null })
    },
  }
}

function Watched(p: { graph: Graph; feed: Feed; status: Status }): JSX.Element {
  const { news } = p.feed
  const stand = useStand(p.feed)
  const clock = useMemo(() => new Clock(), [])
  const program = news.program
  return (
    <div class="live data-screen">
      <Hero feed={p.feed} status={p.status} stopped={stand.stopped} />
      <Bar stand={stand} clock={clock} status={p.status} ended={news.ended} pid={program?.pid} />
      <div class="live-main">
        <Charts stand={stand} clock={clock} />
        <Findings verdict={news.verdict} pid={program?.pid} ended={news.ended} />
      </div>
      {program && <Memory pid={program.pid} pieces={stand.window ? news.pieces : stand.feed.news.pieces} window={stand.window} />}
      {program && <Flame graph={p.graph} pid={program.pid} pieces={stand.window ? news.pieces : stand.feed.news.pieces} window={stand.window} />}
      <Goroutines news={stand.feed.news} stopped={stand.stopped} />
    </div>
  )
}

// Memory is the account at the end of the last piece of recording, or of the window that was chosen.
function Memory(p: { pid: number; pieces: readonly LivePiece[]; window: Window | null }): JSX.Element | null {
  const window = asked(p.pieces, p.window)
  const { data } = useData<LiveMemory>(window ? 'api/live/memory' : null, { pid: p.pid, from: window?.from, to: window?.to })
  if (!data || data.rows.length === 0) return null
  return <Account title={t('live.memory', { at: wall(data.at_ms) })} rows={data.rows} />
}

// Flame is the flame graph of the last half minute, or of the window that was chosen.
// It is asked for again when there is another piece of recording.
function Flame(p: { graph: Graph; pid: number; pieces: readonly LivePiece[]; window: Window | null }): JSX.Element {
  const window = asked(p.pieces, p.window)
  const Graph = p.graph
  return (
    <section class="live-flame" aria-labelledby="live-flame">
      <h2 id="live-flame">{t('live.flame')}</h2>
      {window ? <Graph pid={p.pid} window={window} /> : <Empty text={t(p.window && p.pieces.length > 0 ? 'live.flame.nowindow' : 'live.flame.waiting')} />}
    </section>
  )
}

function Charts(p: { stand: Stand; clock: Clock }): JSX.Element {
  const { stand, clock } = p
  const { feed, range } = stand
  const { params } = usePlace()
  const charts = useCharts(feed, range)
  const marks = useMemo(() => marksOf(feed), [feed])
  const times = useMemo(() => wallTimes(feed.base), [feed.base])
  const [first, last] = fullRange(feed)
  const full: Range = [Math.min(first, range[0]), Math.max(last, range[1])]
  const hidden = setOf(params.get('hide'))
  const tables = setOf(params.get('tables'))
  const drawing = useDrawing(stand)
  return (
    <section class="live-charts" aria-label={t('live.charts')} onPointerDownCapture={drawing}>
      {charts.map((c) => (
        <div key={c.id} class={c.wide ? 'live-wide' : undefined}>
          <Chart
            id={c.id}
            title={tn('live.charts.' + c.id)}
            unit={c.unit}
            stacked={c.stacked}
            lines={c.lines}
            full={full}
            range={range}
            times={times}
            onRange={stand.choose}
            clock={clock}
            latest={stand.window === null}
            marks={marks}
            hidden={hiddenOf(hidden, c.id)}
            onHide={(name) => setParams({ hide: listOf(flip(hidden, `${c.id}.${name}`)) }, { replace: true })}
            tableOpen={tables.has(c.id)}
            onTable={() => setParams({ tables: listOf(flip(tables, c.id)) }, { replace: true })}
            height={c.id === 'groups' ? 210 : 140}
          />
        </div>
      ))}
    </section>
  )
}

// useDrawing stops the picture while somebody draws a window in it: what moves away
// under the pointer cannot be chosen.
function useDrawing(stand: Stand): (e: PointerEvent) => void {
  const now = useRef(stand)
  now.current = stand
  const [on, set] = useState(false)
  useEffect(() => {
    if (!on) return
    // After the chart has said what was chosen.
    const up = () => setTimeout(() => {
      set(false)
      now.current.release()
    }, 50)
    window.addEventListener('pointerup', up)
    window.addEventListener('pointercancel', up)
    return () => {
      window.removeEventListener('pointerup', up)
      window.removeEventListener('pointercancel', up)
    }
  }, [on])
  return (e) => {
    if (stand.stopped || e.button !== 0 || !(e.target as Element).closest('.u-over')) return
    stand.pause()
    set(true)
  }
}

interface BarProps {
  stand: Stand
  clock: Clock
  status: Status
  ended: boolean
  pid: number | undefined
}

function Bar(p: BarProps): JSX.Element {
  const { stand } = p
  const { range, feed, span } = stand
  const keep = useKeep(p.pid)
  const ms = (ns: number) => fromClock(feed, ns)
  const shown = { from: ms(range[0]), to: ms(range[1]) }
  // Without a choice a minute is kept, whatever is in sight.
  const kept = stand.window ?? { from: Math.max(shown.from, shown.to - 60_000), to: shown.to }
  const length = (s: number) => {
    setParams({ span: s === SPANS[0] ? null : s, from: null, to: null }, { replace: true })
  }
  const toggle = () => (stand.stopped ? stand.goOn() : stand.pause())
  useKeys(
    {
      ' ': (e) => !(e.target instanceof Element && e.target.closest('button, summary, input')) && (toggle(), true),
      '[': () => length(spanBeside(span, -1)),
      ']': () => length(spanBeside(span, 1)),
      n: () => stand.goOn(),
      k: () => keep.run(kept),
    },
    [['Space', t('live.key.pause')], ['[ ]', t('live.key.span')], ['n', t('live.key.now')], ['k', t('live.key.keep')]],
  )
  const behind = Math.round(stand.behind / 1000)
  return (
    <div class="live-bar">
      <span class="live-tools" role="group" aria-label={t('live.window')}>
        {SPANS.map((s) => <button key={s} type="button" aria-pressed={!stand.window && span === s} onClick={() => length(s)}>{t(`live.span.${s}`)}</button>)}
      </span>
      <button type="button" class={stand.stopped ? 'primary live-pause' : 'live-pause'} onClick={toggle}>
        {!stand.stopped ? t('live.pause') : stand.window ? t('live.now') : behind > 0 ? t('live.behind', { s: dur(behind * 1e9) }) : t('live.goon')}
      </button>
      <button type="button" title={t('live.keep.help')} disabled={keep.state.busy} onClick={() => keep.run(kept)}>{t('live.keep')}</button>
      <span class="live-range">{t('live.range', { from: wall(shown.from), to: wall(shown.to), width: dur(range[1] - range[0]) })}</span>
      <Cursor stand={stand} clock={p.clock} />
      {p.status.at === 'lost' && <Heard status={p.status} stopped={stand.stopped} ended={p.ended} />}
      <Kept {...keep} />
    </div>
  )
}

// Cursor says in words where the cursor is, and what began or ended there.
function Cursor(p: { stand: Stand; clock: Clock }): JSX.Element {
  const at = useClock(p.clock)
  const { feed, range } = p.stand
  const marks = useMemo((): ChartSpan[] => marksOf(feed), [feed])
  if (at === null) {
    return (
      <span class="live-cursor muted">
        {t('live.hint')}
        {marks.length > 0 && (
          <span class="live-key">
            <svg width="12" height="10" aria-hidden="true"><path class="live-came" d="M1 1h10L6 9z" /></svg> {t('live.key.came')}
            <svg width="12" height="10" aria-hidden="true"><path class="live-went" d="M1.5 1.5h9L6 8.5z" /></svg> {t('live.key.went')}
          </span>
        )}
      </span>
    )
  }
  const near = (range[1] - range[0]) / 100
  const here = marks.filter((m) => Math.abs(m.from - at) <= near)
  return <span class="live-cursor"><b>{wall(fromClock(feed, at), 100)}</b>{here.map((m, i) => <span key={i}> · {m.what}</span>)}</span>
}

interface Keeping {
  busy?: boolean
  kept?: LiveKept
  /** The screens that it has something for. */
  screens?: string[]
  error?: ApiError
}

interface Keep {
  state: Keeping
  run(w: Window): void
  dismiss(): void
}

function useKeep(pid: number | undefined): Keep {
  const [state, set] = useState<Keeping>({})
  const run = (w: Window): void => {
    if (state.busy) return
    set({ busy: true })
    const keeping = async (): Promise<[LiveKept, Session]> => [await post<LiveKept>('api/live/keep', { pid, ...w }), await get<Session>('api/session')]
    keeping().then(
      ([kept, session]) => {
        set({ kept, screens: session.runs[kept.run]?.screens ?? [] })
        say(t('live.kept', { from: wall(kept.from_ms), to: wall(kept.to_ms) }) + ' ' + kept.path)
        renew()
      },
      (e: unknown) => set({ error: problem(e) }),
    )
  }
  return { state, run, dismiss: () => set({}) }
}

function Kept(p: Keep): JSX.Element | null {
  const { busy, kept, screens, error } = p.state
  if (busy) return <p class="live-kept" role="status"><span class="spinner" aria-hidden="true" />{t('live.keeping')}</p>
  if (error) return <div class="live-kept"><Failed error={error} /><button type="button" class="quiet" onClick={p.dismiss}>{t('live.dismiss')}</button></div>
  if (!kept) return null
  return (
    <p class="live-kept">
      <span class="mark mark-good" aria-hidden="true">✓</span>
      <span>{t('live.kept', { from: wall(kept.from_ms), to: wall(kept.to_ms) })} <code>{kept.path}</code></span>
      {['findings', 'flame', 'runtime', 'timeline'].filter((s) => s === 'findings' || screens?.includes(s)).map((s) => <a key={s} href={href(`${s}?r=${kept.run}`)}>{tn('core.screen.' + s)}</a>)}
      <button type="button" class="quiet" onClick={p.dismiss}>{t('live.dismiss')}</button>
    </p>
  )
}
