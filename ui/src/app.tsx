// The frame of the page: which run, which screen, and what holds for all of them.
import type { JSX } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import type { Run, Session, Upload } from './api'
import { ahead, ApiError, isStatic } from './client'
import { ChooseFiles, DropZone, useOpening } from './drop'
import { useKeys } from './keys'
import { Boundary, Help, HelpButton, LanguageButton, nextTheme, Skip, Tabs, ThemeButton, useArrival } from './parts/frame'
import { lazy, type Lazy } from './parts/lazy'
import { Marked } from './parts/marked'
import { Live as Spoken } from './parts/live'
import { Empty, Failed, Loading } from './parts/states'
import { Welcome } from './screens/welcome'
import { Following, useSession } from './session'
import { Command } from './parts/copy'
import { lang, setLang, t, tn, useLang } from './strings'
import { setTheme, useTheme } from './theme'
import { format, go, here, href, setParams, usePlace, type Place } from './url'

// Its flame graph is wanted with the first piece of recording, long after all else.
const Graph = lazy(async () => (await import('./live/graph')).Graph)
// Nothing runs in a report file.
const Live = import.meta.env.MODE === 'report' ? undefined : lazy(async () => (await import('./screens/live')).liveWith(Graph))
// Only some recordings have looked at the heap.
const HeldBy = lazy(async () => (await import('./data/held')).HeldBy)
const Compare = lazy(async () => (await import('./screens/compare')).Compare)

/** The screens in the order of their tabs, with what they ask of a run before all else. */
const screens: [name: string, screen: Lazy, asks?: string][] = [
  ...(Live ? [['live', Live] as [string, Lazy]] : []),
  ['findings', lazy(async () => (await import('./screens/findings')).Findings), 'api/findings'],
  ['timeline', lazy(async () => (await import('./screens/timeline')).Timeline), 'api/timeline'],
  ['flame', lazy(async () => (await import('./screens/flame')).Flame)],
  ['goroutines', lazy(async () => (await import('./screens/goroutines')).Goroutines)],
  ['standing', lazy(async () => (await import('./screens/standing')).Standing), 'api/standing'],
  ['memory', lazy(async () => (await import('./screens/memory')).memoryWith(HeldBy)), 'api/memory'],
  ['runtime', lazy(async () => (await import('./screens/runtime')).Runtime), 'api/runtime'],
  ['tasks', lazy(async () => (await import('./screens/tasks')).Tasks), 'api/tasks'],
  ['compare', Compare],
  ['number', lazy(async () => (await import('./screens/number')).NumberScreen)],
  ['sources', lazy(async () => (await import('./screens/sources')).Sources), 'api/sources'],
]

/** Asks for what the address names, before the page has its words. */
export function begin(): void {
  ahead('api/session')
  const { screen, params } = here()
  const [, code, asks] = screenNamed(screen) ?? []
  code?.load()
  if (asks !== undefined && params.has('r')) ahead(asks, { r: runIndex(params.get('r')) })
}

function screenNamed(name: string): (typeof screens)[number] | undefined {
  return screens.find((s) => s[0] === name)
}

export function App(): JSX.Element {
  useLang()
  useTheme()
  const { session, error, again } = useSession()
  useScreenCode()
  const opening = useOpening((u) => {
    again()
    show(u)
  })
  return (
    <>
      {session ? (
        <Following.Provider value={session}><Opened session={session} error={error} retry={again} opening={opening} /></Following.Provider>
      ) : <Starting error={error} retry={again} />}
      <DropZone opening={opening} />
      <Spoken />
    </>
  )
}

// show goes to what was opened: a run's findings, or a saved result.
function show(u: Upload): void {
  const run = u.runs[0]
  const trial = u.trials[0]
  if (run !== undefined) go(`findings?r=${run}`)
  else if (trial !== undefined) go(`compare?trial=${trial}`)
}

function Starting(p: { error: ApiError | undefined; retry(): void }): JSX.Element {
  return (
    <main id="main" tabIndex={-1}>
      <h1 class="sr">gowhy</h1>
      {p.error ? <Failed error={p.error} retry={p.retry} /> : <Loading />}
    </main>
  )
}

interface OpenedProps {
  session: Session
  /** Why no more is heard of the session. */
  error: ApiError | undefined
  retry(): void
  opening: ReturnType<typeof useOpening>
}

function Opened(p: OpenedProps): JSX.Element {
  const { session } = p
  const place = usePlace()
  const r = runIndex(place.params.get('r'))
  const chosen = session.runs[r]
  const has = screensOf(session, chosen)
  const screen = useFirst(session, place, has)
  const run = screen === 'live' ? undefined : chosen // the live screen is of no run
  const [help, setHelp] = useState(false)
  const palette = usePalette()
  useScreenKeys(has)
  useKeys({ '?': () => setHelp(true), 'Ctrl+k': palette.open }, [['Ctrl K', t('core.palette')], ['?', t('core.help.help')]])
  useAnswerAhead(screen, r, run)
  useArrival(screen, run?.name)
  return (
    <>
      <header class="head">
        <Skip />
        <a class="head-name" href={href('findings')}>gowhy</a>
        <RunPicker runs={session.runs} r={r} screen={screen} />
        <Tabs screens={screens.filter(([name]) => tabsOf(has).includes(name))} screen={screen} />
        <Tools opening={p.opening} palette={palette.open} help={() => setHelp(true)} />
      </header>
      {help && <Help close={() => setHelp(false)} />}
      {palette.Shown && (
        <palette.Shown
          session={session} r={r} has={has} close={palette.close}
          commands={[
            { name: t('core.help'), act: () => setHelp(true) },
            { name: nextTheme().words, act: () => setTheme(nextTheme().choice) },
            { name: t('core.lang.title'), act: () => void setLang(lang() === 'en' ? 'zh' : 'en').catch(() => undefined) },
          ]}
        />
      )}
      {session.loading !== '' && run && !run.loading && (
        <div class="loading-bar" role="status"><span class="spinner" aria-hidden="true" />{t('core.reading', { what: session.loading })}</div>
      )}
      <main id="main" tabIndex={-1}>
        <h1 class="sr">{tn('core.screen.' + screen, 'gowhy')}{run ? ': ' + run.name : ''}</h1>
        {run && !run.loading && run.error === '' && <Marked r={r} />}
        <Content {...p} run={run} r={r} screen={screen} has={has} />
      </main>
    </>
  )
}

interface ContentProps extends OpenedProps {
  run: Run | undefined
  r: number
  screen: string
  has: string[]
}

function Content(p: ContentProps): JSX.Element {
  const { session, run, screen } = p
  if (Live && screen === 'live' && session.live) return <Boundary key={'live ' + lang()}><Live r={p.r} /></Boundary>
  // A saved result can be looked at without any run.
  if (!run && !(screen === 'compare' && session.trials.length > 0)) {
    if (session.runs.length > 0) return <Empty text={t('core.norun')} />
    if (session.trials.length > 0) return <Compare r={0} />
    if (session.loading !== '') return <Loading what={t('core.reading', { what: session.loading })} />
    return <Welcome opening={p.opening} />
  }
  if (run?.loading && p.error) return <Failed error={p.error} retry={p.retry} />
  if (run?.loading) return <Loading what={t('core.reading', { what: session.loading || run.name })} />
  if (run && run.error !== '') return <Failed error={new ApiError(run.error, run.hint, 0)} />
  const Shown = screenNamed(screen)?.[1]
  if (!Shown) return <Empty text={t('core.noscreen')} />
  if (!p.has.includes(screen)) return <Missing screen={screen} again={run?.again ?? 'gowhy record --help'} />
  // A screen's state is in the URL: a new run or language is a new screen.
  const key = `${screen} ${p.r} ${lang()}`
  return <Boundary key={key}><Shown r={p.r} /></Boundary>
}

// Missing says what would fill a screen that a run has nothing for.
function Missing(p: { screen: string; again: string }): JSX.Element {
  return <Empty text={tn('core.needs.' + p.screen, t('core.needs'))}><Command text={p.again} /></Empty>
}

function runIndex(text: string | null): number {
  const n = Number(text ?? 0)
  return Number.isInteger(n) && n >= 0 ? n : 0
}

// tabsOf are the screens that have a tab; a number is reached from where it stands.
function tabsOf(has: string[]): string[] {
  return has.filter((name) => name !== 'number')
}

// screensOf are those that have something to show.
function screensOf(session: Session, run: Run | undefined): string[] {
  const has = new Set(run?.screens ?? [])
  if (session.live) has.add('live')
  if (session.runs.length > 1 || session.trials.length > 0) has.add('compare')
  if (run) has.add('findings').add('number')
  return screens.map(([name]) => name).filter((name) => has.has(name))
}

// useFirst is the screen that is shown: that of the address, or the live one while
// there is no run that the address could be of. The address then says so, for the
// first recording that is kept shall not take the screen away.
function useFirst(session: Session, place: Place, has: string[]): string {
  const live = session.live && session.runs.length === 0 && !has.includes(place.screen)
  useLayoutEffect(() => {
    if (live) go(format({ ...place, screen: 'live' }), { replace: true })
  }, [live, place])
  return live ? 'live' : place.screen
}

// useScreenCode fetches the code of the screen that the address names while the
// session is still asked for.
function useScreenCode(): void {
  const { screen } = usePlace()
  useLayoutEffect(() => screenNamed(screen)?.[1].load(), [screen])
}

// useAnswerAhead asks for what the screen will show while the run is still being
// read, or the screen's code on its way: the server answers as soon as it can.
function useAnswerAhead(screen: string, r: number, run: Run | undefined): void {
  const asks = screenNamed(screen)?.[2]
  const comes = run !== undefined && (run.loading || run.screens.includes(screen))
  useLayoutEffect(() => {
    if (asks !== undefined && comes) return ahead(asks, { r })
  }, [asks, comes, r])
}

// useScreenKeys gives each tab the number of its place.
function useScreenKeys(has: string[]): void {
  const tabs = tabsOf(has)
  useKeys(Object.fromEntries(tabs.map((name, i) => [String(i + 1), () => go(name)])), [[`1 … ${tabs.length}`, t('core.help.screens')], ['Alt ←', t('core.help.back')]])
}

function RunPicker(p: { runs: Run[]; r: number; screen: string }): JSX.Element | null {
  const only = p.runs[0]
  if (!only) return null
  const choose = (r: string) => (p.screen === 'live' ? go('findings?r=' + r) : setParams(otherRun(r)))
  if (p.screen === 'live') {
    return (
      <label class="head-run">
        <span class="sr">{t('core.run')}</span>
        <select value="" onChange={(e) => choose(e.currentTarget.value)}>
          <option value="" disabled>{t('live.runs', { n: p.runs.length })}</option>
          {p.runs.map((run, i) => <option key={i} value={String(i)}>{i + 1}. {run.name}</option>)}
        </select>
      </label>
    )
  }
  if (p.runs.length === 1 && p.r === 0) return <span class="head-run head-run-one clip" title={only.name}>{only.name}</span>
  return (
    <label class="head-run">
      <span class="sr">{t('core.run')}</span>
      <select value={String(p.r)} onChange={(e) => choose(e.currentTarget.value)}>
        {p.runs.map((run, i) => <option key={i} value={String(i)}>{i + 1}. {run.name}</option>)}
      </select>
    </label>
  )
}

// otherRun takes away what was chosen of the run before: its goroutines and its
// moments are no other run's.
function otherRun(r: string): Record<string, string | null> {
  const patch: Record<string, string | null> = {}
  for (const name of new URLSearchParams(location.hash.split('?')[1] ?? '').keys()) patch[name] = null
  return { ...patch, r }
}

// usePalette fetches the palette's code when it is first opened.
function usePalette(): { Shown: typeof import('./palette').Palette | undefined; open(): void; close(): void } {
  const [Shown, show] = useState<typeof import('./palette').Palette | undefined>(undefined)
  const open = () => void import('./palette').then((m) => show(() => m.Palette), (e: unknown) => console.error(e))
  return { Shown, open, close: () => show(undefined) }
}

function Tools(p: { opening: ReturnType<typeof useOpening>; palette(): void; help(): void }): JSX.Element {
  return (
    <div class="head-tools">
      <button type="button" class="quiet" id="palette" title={t('core.palette') + ' (Ctrl K)'} aria-label={t('core.palette')} onClick={p.palette}>
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><circle cx="10.5" cy="10.5" r="6.5" /><path d="M15.5 15.5 21 21" /></svg>
      </button>
      {!isStatic && <ChooseFiles opening={p.opening} label={t('core.open')} title={t('core.open.title')} class="quiet" />}
      <ThemeButton />
      <LanguageButton />
      <HelpButton help={p.help} />
    </div>
  )
}
