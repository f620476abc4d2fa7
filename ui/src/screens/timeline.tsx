// The timeline. The picture is the stage's (timeline/stage.ts), which moves
// without components; this joins it with the address, the panels and the server.
import type { JSX } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Edge, Edges, Hits, Holds as ApiHolds, Insight, Lane, Lanes, Moment as ApiMoment, Runtime, Timeline as ApiTimeline } from '../api'
import { bytes, get, isStatic, problem, useData } from '../client'
import { at as moment, dur } from '../format'
import { useKeys } from '../keys'
import { say } from '../parts/live'
import { Empty, Failed, Loading } from '../parts/states'
import { t } from '../strings'
import { useTheme } from '../theme'
import { setParams, usePlace } from '../url'
import { patient, useAsked, type Asked } from '../timeline/ask'
import { Behind } from '../timeline/behind'
import { lanesOf } from '../timeline/charts'
import { hasTiles, turnsOf, type Chart, type Theme } from '../timeline/draw'
import { Results, Search, SEARCH_ID, type Found } from '../timeline/find'
import { known, neighbour, waker, woken, type Ask, type Spot } from '../timeline/follow'
import { Sampled } from '../timeline/kernel'
import { Labels, nameOf } from '../timeline/labels'
import { brief, isKernel, kindOfId, LaneTree, laneOfGoroutine, PAGE, type Row } from '../timeline/lanes'
import { GroupMoment } from '../timeline/group'
import { HoldsOf } from '../timeline/holds'
import { Legend } from '../timeline/legend'
import { Moment } from '../timeline/moment'
import { Panel, type Tab } from '../timeline/panel'
import { readView, writeView, type View } from '../timeline/place'
import { Selection } from '../timeline/selection'
import { overviewOf, Stage, type Move } from '../timeline/stage'
import { excerpts } from '../timeline/static'
import { Tip, type Pointed } from '../timeline/tip'
import { Undo } from '../timeline/undo'
import { around, fit, keep, same, type Window } from '../timeline/window'
import './timeline.css'

export function Timeline(p: { r: number }): JSX.Element {
  const { data, error } = useData<ApiTimeline>('api/timeline', { r: p.r })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  if ((data.lanes?.length ?? 0) === 0) return <Empty text={t('timeline.empty')} />
  return <Shown r={p.r} data={data} />
}

/** Lanes that were followed to and stand in no open group are pinned, the last few of them. */
const FOLLOWED = 6
const HITS = 200
/** Wake-ups of the whole window are drawn when they are so few, and it is so short. */
const FEW_EDGES = 300
const EDGES_WITHIN_NS = 20e6
/** A lock changes hands thousands of times in a second: in a longer window nobody could be told from the next. */
const HOLDS_WITHIN_NS = 500e6

function Shown(p: { r: number; data: ApiTimeline }): JSX.Element {
  const { r, data } = p
  const place = usePlace()
  const view = useMemo(() => readView(place.params), [place])
  const now = useRef(view)
  now.current = view
  const tree = useMemo(() => {
    const made = new LaneTree(data.lanes)
    made.setOpen(view.open ?? made.startOpen) // the stage asks at once for what is in sight
    return made
  }, [data])
  const [rows, setRows] = useState<Row[]>([])
  const [focus, setFocus] = useState(view.lane || view.lanes[0] || '')
  const [followed, setFollowed] = useState<string[]>([])
  const [trail, setTrail] = useState<Spot[]>([])
  const [failed, setFailed] = useState('')
  const [group, setGroup] = useState('')
  const undo = useRef(new Undo())
  const tip = useRef<(v: Pointed | undefined) => void>(() => {})
  const windowText = useRef<HTMLOutputElement>(null)

  const { parts, stage } = useStage(r, data, tree, view.window, {
    moved(w) {
      if (windowText.current) windowText.current.value = textOfWindow(w)
    },
    rested(w, before) {
      undo.current.moved(before)
      setParams(writeView({ window: w }), { replace: true })
    },
    jumped(w, before) {
      undo.current.jumped(before)
      setParams(writeView({ window: w }))
    },
    rows: setRows,
    hover: (v) => tip.current(v),
    chosen(h) {
      setFocus(h.row.id)
      setTrail([])
      if (!hasTiles(h.row.lane)) return
      const at = h.span && h.span.to_ns > h.span.from_ns ? Math.min(Math.max(h.at, h.span.from_ns), h.span.to_ns - 1) : h.at
      setParams(writeView({ lane: h.row.id, at, panel: 'moment' }), { replace: true })
    },
    selected(w) {
      setParams(writeView({ selected: w, panel: 'selection' }), { replace: true })
    },
    failed: setFailed,
  })

  /** jump changes the place in a step that "back" undoes. */
  const jump = useCallback((patch: Partial<View>): void => {
    const s = stage.current
    if (s) undo.current.jumped(s.window)
    setParams(writeView({ ...(s ? { window: s.window } : {}), ...patch }))
  }, [])
  const replace = useCallback((patch: Partial<View>): void => setParams(writeView(patch), { replace: true }), [])

  useAddress(view, data, tree, stage, followed, group)
  const charts = useCharts(r, stage, tree)
  useGroup(r, view.group, tree, stage, setGroup, setFailed)
  useBack(undo)

  const asked = useAsked<ApiMoment>(view.lane !== '' && view.at !== null && !isStatic ? 'api/timeline/at' : null, {
    r, lane: view.lane, at: view.at === null ? undefined : Math.round(view.at),
  })
  const shownMoment = isStatic ? momentInTiles(stage.current, view) : view.lane === '' || view.at === null || asked.data?.pending ? undefined : asked.data
  // What is still shown of the moment before is no place to go on from.
  const presentMoment = isStatic || !asked.loading ? shownMoment : undefined
  useMomentOnStage(shownMoment, view.lane, tree, stage)
  useEdges(r, view, stage)
  const insight = data.insights.find((f) => f.finding === view.finding && f.queue !== '')
  const holds = useHolds(r, view, insight, stage, data.duration_ns)

  const goTo = useCallback((s: Spot): void => {
    const st = stage.current
    if (!st) return
    setTrail((old) => [...old.filter((o) => o.lane !== s.lane || o.at !== s.at), s].slice(-12))
    setFocus(s.lane)
    jump({ lane: s.lane, at: s.at, panel: 'moment', window: around(st.window, s.at, data.duration_ns) })
  }, [data])
  // A lane that is in no open group is shown above the others.
  useEffect(() => {
    const st = stage.current
    if (!st || view.lane === '') return
    meet(tree, view.lane)
    setFocus(view.lane) // by "back" as well: the keys go on from what is shown
    if (!tree.row(view.lane)) setFollowed((old) => [...old.filter((id) => id !== view.lane), view.lane].slice(-FOLLOWED))
    st.overlay.focus = view.lane
    st.revealLane(view.lane)
  }, [view.lane, view.at, group]) // one whose group was closed has no row any more

  const ask = useMemo<Ask>(() => ({
    duration: data.duration_ns,
    at: (lane, at) => patient<ApiMoment>('api/timeline/at', { r, lane, at: Math.round(at) }),
    edges: async (from, to, lane) => (await patient<Edges>('api/timeline/edges', { r, from: Math.floor(from), to: Math.ceil(to), lanes: lane })).edges ?? [],
  }), [r, data])
  const follow = (find: () => Promise<Spot | undefined> | Spot | undefined, nothing: string): void => {
    Promise.resolve(find()).then(
      (s) => (s ? goTo(s) : say(nothing)),
      (e: unknown) => setFailed(problem(e).message),
    )
  }
  /** look selects what the focused lane does in the middle of the window: the keyboard's click. */
  const look = (): void => {
    const s = stage.current
    if (s && hasTiles(tree.lane(focus))) replace({ lane: focus, at: s.middle, panel: 'moment' })
  }
  /** moment is what is told of the place, awaited where a key is quicker than the answer. */
  const moment = async (): Promise<ApiMoment | undefined> =>
    presentMoment ?? (isStatic || view.lane === '' || view.at === null ? undefined : ask.at(view.lane, view.at))
  const placed = view.panel === 'moment' && view.lane !== '' && view.at !== null
  const step = (way: -1 | 1): void => {
    if (focus !== view.lane) return look()
    if (view.lane === '') return
    follow(async () => {
      const m = await moment()
      return m && known(m.span) ? neighbour(ask, view.lane, m.span, way) : undefined
    }, t('timeline.nothingfurther'))
  }
  const back = (): void => {
    if (!placed) return
    startTrail()
    follow(async () => {
      const m = await moment()
      return m && waker(m)
    }, t('timeline.nowaker'))
  }
  const forward = (): void => {
    if (!placed) return
    startTrail()
    follow(async () => {
      const m = await moment()
      if (!m || m.span.goroutine <= 0) return undefined
      return woken(ask, m.span.goroutine, laneOfGoroutine(m.span.goroutine), view.at ?? m.span.from_ns)
    }, t('timeline.nowoken'))
  }
  const startTrail = (): void => setTrail((old) => (old.length > 0 ? old : [{ lane: view.lane, at: view.at ?? 0 }]))

  const fitAll = (): void => {
    const s = stage.current
    if (!s) return
    const all = { from: 0, to: data.duration_ns }
    const show = (target: Window): void => jump({ window: same(target, s.window) ? all : target })
    const other = view.selected ? keep(view.selected, data.duration_ns) : all
    if (!placed) return show(other)
    moment().then(
      (m) => show(m && known(m.span) ? fit(m.span.from_ns, m.span.to_ns, data.duration_ns) : other),
      (e: unknown) => setFailed(problem(e).message),
    )
  }
  const goBack = (): void => {
    const before = undo.current.undo()
    if (before === 'back') history.back()
    else if (before) {
      stage.current?.show(before)
      replace({ window: before })
    }
  }
  const toggle = (id: string): void => {
    const open = tree.isOpen(id) ? tree.opened.filter((o) => o !== id) : [...tree.opened, id]
    replace({ open })
  }
  const pin = (id: string): void => {
    setFollowed((old) => old.filter((f) => f !== id))
    if (view.lanes.includes(id) || followed.includes(id)) replace({ lanes: view.lanes.filter((l) => l !== id) })
    else replace({ lanes: [...view.lanes, id] })
  }
  const focusLane = (row: Row | undefined): void => {
    if (!row) return
    setFocus(row.id)
    const s = stage.current
    if (s) {
      s.overlay.focus = row.id
      s.reveal(row)
      s.redrawOverlay()
    }
    requestAnimationFrame(() => requestAnimationFrame(() => {
      for (const el of document.querySelectorAll<HTMLElement>('.tl-name')) {
        if (el.dataset['lane'] === row.id) return el.focus({ preventScroll: true })
      }
    }))
  }
  const moveLane = (by: number): void => focusLane(tree.step(tree.row(focus), by))

  const search = useSearch(r, view.q)
  const hits = search.hits?.hits ?? []
  const [hitAt, setHitAt] = useState(-1)
  useEffect(() => setHitAt(-1), [view.q])
  const goHit = (i: number): void => {
    const h = hits[i]
    const s = stage.current
    if (!h || !s) return
    setHitAt(i)
    const inside = h.from_ns >= s.window.from && h.to_ns <= s.window.to && (h.to_ns - h.from_ns) * 200 > s.window.to - s.window.from
    meet(tree, h.lane, h.label)
    setFocus(h.lane)
    jump({ lane: h.lane, at: h.from_ns, panel: 'hits', window: inside ? s.window : near(h.from_ns, h.to_ns, data.duration_ns) })
  }
  const stepHit = (by: number): void => {
    if (hits.length > 0) goHit((hitAt + by + hits.length) % hits.length)
  }
  const panels = ['moment', 'selection', 'holds', 'hits', 'table']
  const panel = panels.includes(view.panel) && (view.panel !== 'holds' || (insight && !isStatic)) ? view.panel : ''
  const closePanel = (): void => {
    stage.current?.redraw()
    replace({ panel: '', ...(panel === 'moment' ? { lane: '', at: null } : panel === 'selection' ? { selected: null, selectedLane: '', note: '' } : panel === 'holds' ? { finding: 0 } : {}) })
  }

  useMovement(stage, { fit: fitAll, undo: goBack, lane: moveLane, enter: () => (tree.opens(focus) ? toggle(focus) : look()) })
  useKeys(
    {
      ',': () => step(-1), '.': () => step(1), '[': back, ']': forward,
      '/': () => document.getElementById(SEARCH_ID)?.focus(),
      n: () => stepHit(1), 'Shift+n': () => stepHit(-1),
      g: () => replace({ gc: !view.gc }),
      p: () => focus !== '' && pin(focus),
      m: () => stage.current && !isStatic && replace({ selected: stage.current.window, panel: 'selection' }),
      t: () => replace({ panel: panel === 'table' ? '' : 'table' }),
      Escape: () => panel !== '' && closePanel(),
    },
    [
      [', .', t('timeline.key.span')], ['[ ]', t('timeline.key.chain')], ['/', t('timeline.key.search')], ['n N', t('timeline.key.hits')],
      ['g', t('timeline.key.gc')], ['p', t('timeline.key.pin')], ['m', t('timeline.key.mark')], ['t', t('timeline.key.table')], ['Esc', t('timeline.key.escape')],
    ],
  )

  const theme = stage.current?.theming
  const marked = useMemo(() => new Set([...view.lanes, group].filter((id) => id !== '')), [view.lanes.join(), group])
  useEffect(() => {
    if (!stage.current) return
    stage.current.overlay.marked = marked
    stage.current.redrawOverlay()
  }, [marked])

  const tabs = panelTabs({
    r, view, data, tree, stage: stage.current, theme, moment: shownMoment, asked, trail, found: search, hitAt, goHit,
    step, back, forward, goTo, fit: fitAll, replace, close: closePanel, focus, insight, holds,
  })
  return (
    <div class="tl">
      <div class="tl-tools">
        {!isStatic && <Search q={view.q} states={data.states} failed={search.error?.message ?? ''} find={(q) => replace({ q, panel: q ? 'hits' : '' })} />}
        {view.q !== '' && hits.length > 0 && (
          <span class="tl-steps">
            <button type="button" class="quiet" onClick={() => stepHit(-1)} aria-label={t('timeline.search.previous')} title={t('timeline.search.previous') + ' (N)'}>↑</button>
            <button type="button" class="quiet" onClick={() => stepHit(1)} aria-label={t('timeline.search.next')} title={t('timeline.search.next') + ' (n)'}>↓</button>
            <span class="muted">{t('timeline.search.position', { i: hitAt + 1, n: hits.length })}</span>
          </span>
        )}
        <span class="tl-space" />
        <output ref={windowText} class="tl-window">{textOfWindow(stage.current?.window ?? view.window ?? { from: 0, to: data.duration_ns })}</output>
        <button type="button" onClick={() => press(stage, 'in')} aria-label={t('timeline.in')} title={t('timeline.in') + ' (W)'}>+</button>
        <button type="button" onClick={() => press(stage, 'out')} aria-label={t('timeline.out')} title={t('timeline.out') + ' (S)'}>−</button>
        <button type="button" onClick={fitAll} title={t('timeline.fit.help')}>{t('timeline.fit')}</button>
        <button type="button" onClick={goBack} title={t('timeline.undo.help')}>{t('timeline.undo')}</button>
        <button type="button" aria-pressed={view.gc} onClick={() => replace({ gc: !view.gc })} title={t('timeline.gc.help')}>{t('timeline.gc')}</button>
        {data.insights.length > 0 && <button type="button" aria-pressed={view.insights} onClick={() => replace({ insights: !view.insights })} title={t('timeline.insights.help')}>{t('timeline.insights')}</button>}
        <button type="button" aria-pressed={panel === 'table'} onClick={() => replace({ panel: panel === 'table' ? '' : 'table' })} title={t('timeline.table.help')}>{t('timeline.table')}</button>
      </div>
      {isStatic && <Excerpts r={r} data={data} window={view.window} show={(w) => jump({ window: w ?? { from: 0, to: data.duration_ns } })} />}
      {failed !== '' && (
        <p class="tl-failed" role="alert">
          {failed} <button type="button" class="quiet" onClick={() => setFailed('')} aria-label={t('core.close')}>✕</button>
        </p>
      )}
      <Legend states={data.states} theme={theme} hide={view.hide} change={(hide) => replace({ hide })} />
      <div class="tl-stage card">
        <div class="tl-corner"><span ref={parts.base} aria-hidden="true" /></div>
        <div class="tl-above">
          <canvas ref={parts.overview} class="tl-overview" role="img" aria-label={t('timeline.overview')} />
          <canvas ref={parts.ruler} class="tl-ruler" aria-hidden="true" />
        </div>
        <div class="tl-scroll" ref={parts.scroller}>
          <div class="tl-rows" ref={parts.rows}>
            <Labels
              rows={rows} tree={tree} charts={charts} insights={view.insights ? data.insights : []} focus={focus} marked={marked} toggle={toggle} pin={pin} holders={(finding) => replace({ finding, panel: 'holds' })}
              focused={(id) => {
                setFocus(id)
                if (stage.current) {
                  stage.current.overlay.focus = id
                  stage.current.redrawOverlay()
                }
              }}
            />
            <div class="tl-picture">
              <canvas ref={parts.picture} role="img" aria-label={describe(stage.current?.window ?? view.window ?? { from: 0, to: data.duration_ns }, rows)} />
              <canvas ref={parts.overlay} class="tl-overlay" aria-hidden="true" />
              <Tip listen={(show) => { tip.current = show }} states={data.states} theme={() => stage.current?.theming} charts={charts} />
            </div>
          </div>
        </div>
      </div>
      {panel !== '' && <Panel tabs={tabs} shown={panel} show={(id) => replace({ panel: id })} close={closePanel} />}
    </div>
  )
}

type StageRef = { current: Stage | undefined }

interface StageTold {
  moved(w: Window): void
  rested(w: Window, before: Window): void
  jumped(w: Window, before: Window): void
  rows(rows: Row[]): void
  hover(v: Pointed | undefined): void
  chosen(h: Pointed['hit']): void
  selected(w: Window): void
  failed(text: string): void
}

// useStage makes the stage when its canvases are there, and ends it with them.
function useStage(r: number, data: ApiTimeline, tree: LaneTree, window: Window | null, told: StageTold) {
  const parts = {
    scroller: useRef<HTMLDivElement>(null), rows: useRef<HTMLDivElement>(null), picture: useRef<HTMLCanvasElement>(null),
    overlay: useRef<HTMLCanvasElement>(null), ruler: useRef<HTMLCanvasElement>(null), overview: useRef<HTMLCanvasElement>(null),
    base: useRef<HTMLSpanElement>(null),
  }
  const stage = useRef<Stage | undefined>(undefined)
  const tell = useRef(told)
  tell.current = told
  const [, made] = useState(0)
  useLayoutEffect(() => {
    let rested = keep(window ?? { from: 0, to: data.duration_ns }, data.duration_ns)
    const file = isStatic ? excerpts(r, data.duration_ns) : undefined
    const pages = pageLoader(r, tree, () => stage.current?.changed(), (e) => tell.current.failed(e))
    const s = new Stage(
      {
        scroller: parts.scroller.current!, rows: parts.rows.current!, picture: parts.picture.current!,
        overlay: parts.overlay.current!, ruler: parts.ruler.current!, overview: parts.overview.current!, base: parts.base.current!,
      },
      tree,
      {
        duration: data.duration_ns, levels: { min: data.min_level, max: data.max_level, only: file?.levels }, states: data.states, gaps: data.damage ?? [], insights: data.insights,
        overviewLane: overviewOf(data.lanes), window,
        fetch: (level, tile, lanes, signal) => bytes('api/timeline/tiles', { r, level, tile, lanes: lanes.join(',') }, signal),
      },
      {
        moved: (w) => tell.current.moved(w),
        rested: (w) => {
          tell.current.rested(w, rested)
          rested = w
        },
        shown: (w) => {
          rested = w
        },
        jumped: (w) => {
          tell.current.jumped(w, rested)
          rested = w
        },
        rows: (list) => tell.current.rows(list),
        pages: pages.want,
        hover: (hit, x, y) => tell.current.hover(hit && { hit, x, y }),
        chosen: (h) => tell.current.chosen(h),
        selected: (w) => tell.current.selected(w),
        tilesFailed: (e) => !isStatic && tell.current.failed(t('timeline.tiles.failed', { what: problem(e).message })),
      },
    )
    stage.current = s
    void file?.load(data.states.length).then((all) => all.forEach((a) => s.tiles.put(a)))
    made((n) => n + 1)
    return () => {
      s.close()
      pages.close()
      stage.current = undefined
    }
  }, [r, data, tree])
  const theme = useTheme()
  const first = useRef(theme)
  useEffect(() => {
    if (first.current !== theme) {
      first.current = theme
      stage.current?.themed()
      made((n) => n + 1)
    }
  }, [theme])
  return { parts, stage }
}

// pageLoader fetches pages of children that rows in sight need.
function pageLoader(r: number, tree: LaneTree, came: () => void, failed: (text: string) => void) {
  const stop = new AbortController()
  const asked = new Set<string>()
  return {
    want(missing: { parent: string; offset: number }[]): void {
      for (const { parent, offset } of missing) {
        const key = `${parent} ${offset}`
        if (asked.has(key)) continue
        asked.add(key)
        get<Lanes>('api/timeline/lanes', { r, parent, offset, limit: PAGE }, stop.signal).then(
          (page) => {
            tree.put(parent, offset, page.lanes ?? [], page.total)
            came()
          },
          (e: unknown) => {
            if (!stop.signal.aborted) failed(problem(e).message)
          },
        )
      }
    },
    close: () => stop.abort(),
  }
}

function useCharts(r: number, stage: StageRef, tree: LaneTree): ReadonlyMap<string, Chart> {
  // As a window, which comes without the utilization: to compute that takes longer than
  // the whole picture.
  const { data } = useData<Runtime>('api/runtime', isStatic ? { r } : { r, from: 0 })
  const { lanes, charts } = useMemo(() => lanesOf(data), [data])
  useEffect(() => {
    const s = stage.current
    if (!s || !data) return
    tree.lead(lanes)
    s.charts.clear()
    for (const [id, c] of charts) s.charts.set(id, c)
    s.overlays = { cycles: data.cycles ?? [], pauses: data.pauses ?? [] }
    s.changed()
  }, [data, stage.current])
  return charts
}

// useAddress shows what the address says, from the first frame on.
function useAddress(view: View, data: ApiTimeline, tree: LaneTree, stage: StageRef, followed: string[], group: string): void {
  const { window } = view
  useLayoutEffect(() => {
    stage.current?.show(window ?? { from: 0, to: data.duration_ns })
  }, [window?.from, window?.to, data])
  const open = (view.open ?? tree.startOpen).join('\n')
  const pins = [...new Set([...view.lanes, ...followed])].filter((id) => !tree.isTop(id)).join('\n')
  useLayoutEffect(() => {
    for (const id of pins.split('\n')) if (id !== '') meet(tree, id)
    tree.setOpen([...open.split('\n'), group, tree.lane(group)?.parent ?? ''].filter((id) => id !== ''))
    tree.pin(pins.split('\n').filter((id) => id !== ''))
    stage.current?.changed()
  }, [open, pins, group, stage.current])
  useLayoutEffect(() => {
    const first = view.lanes[0]
    if (first) stage.current?.revealLane(first)
  }, [view.lanes.join('\n'), stage.current])
  useLayoutEffect(() => stage.current?.hide(view.hide), [view.hide.join('\n'), stage.current])
  useLayoutEffect(() => {
    if (stage.current) stage.current.showGC(view.gc)
  }, [view.gc, stage.current])
  useLayoutEffect(() => stage.current?.showInsights(view.insights), [view.insights, stage.current])
  useLayoutEffect(() => {
    const s = stage.current
    if (!s) return
    s.overlay.selected = view.selected
    s.overlay.note = view.note
    s.redrawOverlay()
  }, [view.selected?.from, view.selected?.to, view.note, stage.current])
}

// useGroup finds the group that a link names: it is opened, marked and in sight.
function useGroup(r: number, name: string, tree: LaneTree, stage: StageRef, found: (id: string) => void, failed: (text: string) => void): void {
  useEffect(() => {
    if (name === '') {
      found('')
      return
    }
    const stop = new AbortController()
    const show = (lane: Lane): void => {
      tree.meet(lane)
      found(lane.id)
      stage.current?.revealLane(lane.id)
    }
    const here = tree.find((l) => l.kind === 'g' && l.label === name)
    if (here) show(here)
    else {
      get<Lanes>('api/timeline/lanes', { r, parent: 'groups', offset: 0, limit: PAGE, q: 'func:' + JSON.stringify(name) }, stop.signal).then(
        (page) => {
          const lane = page.lanes?.find((l) => l.label === name) ?? page.lanes?.[0]
          if (!lane) return failed(t('timeline.group.missing', { name }))
          tree.meet(lane)
          tree.pin([...tree.pinned, lane.id])
          stage.current?.changed()
          show(lane)
        },
        (e: unknown) => {
          if (!stop.signal.aborted) failed(problem(e).message)
        },
      )
    }
    return () => stop.abort()
  }, [name, tree])
}

// useBack keeps the order of undo when the browser's own "back" is used.
function useBack(undo: { current: Undo }): void {
  useEffect(() => {
    const went = (): void => undo.current.went()
    addEventListener('popstate', went)
    return () => removeEventListener('popstate', went)
  }, [])
}

function useMomentOnStage(m: ApiMoment | undefined, lane: string, tree: LaneTree, stage: StageRef): void {
  useEffect(() => {
    const s = stage.current
    if (!s) return
    s.overlay.span = m && known(m.span) ? { lane, span: m.span } : null
    s.overlay.strong = m ? [m.woken, m.waker].filter((e): e is Edge => !!e) : []
    if (m && m.span.goroutine > 0 && lane.startsWith('go:') && m.span.group !== '') {
      if (tree.rename(lane, `${m.span.group} #${m.span.goroutine}`)) s.changed()
    }
    s.redrawOverlay()
    // By what it says: a report file makes it anew each time.
  }, [m?.span.from_ns, m?.span.to_ns, m?.woken?.at_ns, m?.waker?.at_ns, lane, stage.current])
}

// useEdges draws the wake-ups of a window that is short enough to show them.
function useEdges(r: number, view: View, stage: StageRef): void {
  const { window } = view
  useEffect(() => {
    const s = stage.current
    if (!s || isStatic) return
    s.overlay.edges = []
    s.redrawOverlay()
    const w = window ?? s.window
    if (w.to - w.from > EDGES_WITHIN_NS) return
    const stop = new AbortController()
    const lanes = s.inSight().filter((row) => row.lane?.kind === 'go').map((row) => row.id)
    if (lanes.length === 0) return
    patient<Edges>('api/timeline/edges', { r, from: Math.floor(w.from), to: Math.ceil(w.to), lanes: lanes.join(',') }, stop.signal).then(
      (e) => {
        if (stop.signal.aborted || e.total > FEW_EDGES) return
        s.overlay.edges = e.edges ?? []
        s.redrawOverlay()
      },
      () => {}, // arrows are an extra: the picture is complete without them
    )
    return () => stop.abort()
  }, [window?.from, window?.to, stage.current])
}

// useHolds asks who has what a finding's goroutines wait for, and draws it while the window
// is short enough to tell one from the next.
function useHolds(r: number, view: View, insight: Insight | undefined, stage: StageRef, duration: number): Asked<ApiHolds> {
  const w = view.window ?? { from: 0, to: duration }
  const asked = useAsked<ApiHolds>(insight && !isStatic ? 'api/timeline/holds' : null, { r, finding: insight?.finding, from: Math.floor(w.from), to: Math.ceil(w.to) })
  useEffect(() => {
    const s = stage.current
    if (!s) return
    const drawn = insight && asked.data && w.to - w.from <= HOLDS_WITHIN_NS
    s.overlay.holds = drawn ? { group: insight.group, list: turnsOf(asked.data!.holds, insight.queue) } : null
    s.redrawOverlay()
  }, [asked.data, insight, w.from, w.to, stage.current])
  return asked
}

function useSearch(r: number, q: string): Found {
  const asked = useAsked<Hits>(q === '' || isStatic ? null : 'api/timeline/search', { r, q, limit: HITS })
  return { q, hits: asked.data, error: asked.error }
}

function press(stage: StageRef, m: Move): void {
  stage.current?.press(m, false)
  stage.current?.release(m)
}

// useMovement are the keys that move, as in Perfetto.
function useMovement(stage: StageRef, o: { fit(): void; undo(): void; lane(by: number): void; enter(): void }): void {
  const move = (m: Move) => (e: KeyboardEvent): void => stage.current?.press(m, e.repeat)
  useKeys(
    {
      w: move('in'), '+': move('in'), '=': move('in'), s: move('out'), '-': move('out'),
      a: move('left'), ArrowLeft: move('left'), d: move('right'), ArrowRight: move('right'),
      ArrowUp: () => o.lane(-1), ArrowDown: () => o.lane(1), PageUp: () => o.lane(-10), PageDown: () => o.lane(10),
      Enter: (e) => enter(e, o.enter), f: o.fit, u: o.undo,
    },
    [
      ['w s', t('timeline.key.zoom')], ['a d', t('timeline.key.pan')], ['↑ ↓', t('timeline.key.lane')], ['Enter', t('timeline.key.enter')],
      ['f', t('timeline.key.fit')], ['u', t('timeline.key.undo')], ['Ctrl, Shift', t('timeline.key.wheel')],
    ],
  )
}

// enter opens or looks into the focused lane, and presses any other button that has the focus.
function enter(e: KeyboardEvent, lane: () => void): void {
  const el = e.target
  if (el instanceof HTMLElement && !el.classList.contains('tl-name') && el.matches('button, a, summary, [tabindex]')) el.click()
  else lane()
}

interface PanelProps {
  r: number
  view: View
  data: ApiTimeline
  tree: LaneTree
  stage: Stage | undefined
  theme: Theme | undefined
  moment: ApiMoment | undefined
  asked: { error: ReturnType<typeof problem> | undefined; loading: boolean }
  trail: Spot[]
  found: Found
  hitAt: number
  goHit(i: number): void
  step(way: -1 | 1): void
  back(): void
  forward(): void
  goTo(s: Spot): void
  fit(): void
  replace(patch: Partial<View>): void
  close(): void
  focus: string
  insight: Insight | undefined
  holds: Asked<ApiHolds>
}

function panelTabs(p: PanelProps): Tab[] {
  const tabs: Tab[] = [
    { id: 'moment', title: t('timeline.panel.moment'), body: () => <MomentBody {...p} /> },
    { id: 'table', title: t('timeline.panel.table'), body: () => p.stage && <Behind stage={p.stage} states={p.data.states} /> },
  ]
  if (isStatic) return tabs
  tabs.splice(1, 0, { id: 'selection', title: t('timeline.panel.selection'), body: () => <SelectionBody {...p} /> })
  const { insight } = p
  if (insight) tabs.splice(2, 0, { id: 'holds', title: t('core.marked.finding', { n: insight.finding }), body: () => <HoldsOf of={insight} asked={p.holds} to={p.goTo} /> })
  if (p.view.q !== '') tabs.splice(2, 0, { id: 'hits', title: t('timeline.panel.hits'), body: () => <Results found={p.found} at={p.hitAt} go={p.goHit} /> })
  return tabs
}

function MomentBody(p: PanelProps): JSX.Element {
  if (p.view.lane === '' || p.view.at === null) return <p class="muted">{t('timeline.moment.none')}</p>
  if (p.asked.error) return <Failed error={p.asked.error} />
  if (!p.moment) return isStatic ? <p class="muted">{t('timeline.moment.nothing')}</p> : <Loading />
  const name = (id: string): string => nameOf({ id, lane: p.tree.lane(id) })
  const kind = p.tree.lane(p.view.lane)?.kind ?? 'go'
  const Body = isKernel(kind) ? Sampled : Moment
  return (
    <div class={p.asked.loading ? 'tl-faint' : ''} aria-busy={p.asked.loading}>
      <h2 class="tl-moment-lane">{name(p.view.lane)}</h2>
      {kind === 'g' && <GroupMoment r={p.r} lane={p.view.lane} group={p.tree.lane(p.view.lane)!.label} at={p.view.at} duration={p.data.duration_ns} to={p.goTo} />}
      <Body
        moment={p.moment} lane={p.view.lane} kind={kind} states={p.data.states} theme={p.theme} trail={p.trail} nameOf={(id) => brief(name(id))}
        neighbour={p.step} back={p.back} forward={p.forward} to={p.goTo} fit={p.fit}
      />
    </div>
  )
}

function SelectionBody(p: PanelProps): JSX.Element {
  const { selected } = p.view
  if (!selected) return <p class="muted">{t('timeline.selection.none')}</p>
  const ids = [...new Set([p.focus, p.view.selectedLane, p.view.lane])].filter((id) => hasTiles(p.tree.lane(id)))
  return (
    <Selection
      r={p.r} window={keep(selected, p.data.duration_ns)} lane={p.view.selectedLane}
      lanes={ids.map((id) => ({ id, name: nameOf({ id, lane: p.tree.lane(id) }), group: p.tree.lane(id)?.kind === 'g' ? p.tree.lane(id)?.label : undefined }))}
      choose={(selectedLane) => p.replace({ selectedLane })} fit={p.fit} clear={p.close}
      note={p.view.note} write={(note) => p.replace({ note })}
    />
  )
}

function Excerpts(p: { r: number; data: ApiTimeline; window: Window | null; show(w: Window | null): void }): JSX.Element {
  const list = useMemo(() => excerpts(p.r, p.data.duration_ns).windows, [p.r, p.data])
  return (
    <div class="tl-excerpts" role="note">
      <p>{t('timeline.static')}</p>
      <div class="tl-buttons" role="group" aria-label={t('timeline.static.excerpts')}>
        <button type="button" onClick={() => p.show(null)}>{t('timeline.static.all')}</button>
        {list.map((w) => (
          <button key={w.from} type="button" aria-pressed={p.window !== null && same(p.window, w)} onClick={() => p.show(w)}>{moment(w.from, w.to - w.from)} (+{dur(w.to - w.from)})</button>
        ))}
      </div>
    </div>
  )
}

/** meet makes a lane known by its id alone, with what can be said of it. */
function meet(tree: LaneTree, id: string, label?: string): void {
  if (tree.lane(id)) return
  const kind = kindOfId(id)
  const rest = id.slice(id.indexOf(':') + 1)
  tree.meet({
    id, parent: '', kind, detail: '', count: 1, children: 0, total_ns: 0, from_ns: 0, to_ns: 0, peak: 1,
    label: label ?? (kind === 'go' ? t('timeline.goroutine', { id: rest.replace(/@.*/, '') }) : kind === 'cpu' ? 'CPU ' + rest : id),
  })
}

/** near is a window in which a stretch can be seen, with what is around it. */
function near(from: number, to: number, end: number): Window {
  const wide = Math.max((to - from) * 3, 20_000)
  const middle = (from + to) / 2
  return keep({ from: middle - wide / 2, to: middle + wide / 2 }, end)
}

/** momentInTiles is what a report file knows of a moment: the stretch in its tiles, without a stack. */
function momentInTiles(s: Stage | undefined, view: View): ApiMoment | undefined {
  if (!s || view.lane === '' || view.at === null) return undefined
  const span = s.spanAt(view.lane, view.at)
  return span && { span, stack: [], woken: null, waker: null, pending: false, text: '' }
}

function textOfWindow(w: Window): string {
  const wide = w.to - w.from
  return t('timeline.window', { from: moment(w.from, wide / 100), to: moment(w.to, wide / 100), wide: dur(wide) })
}

function describe(w: Window, rows: Row[]): string {
  const wide = w.to - w.from
  return t('timeline.picture', { lanes: rows.length, from: moment(w.from, wide / 100), to: moment(w.to, wide / 100), wide: dur(wide) })
}
