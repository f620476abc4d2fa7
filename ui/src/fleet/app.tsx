// The frame of the fleet's page: which screen, of which time.
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useKeys } from '../keys'
import { Boundary, Help, HelpButton, LanguageButton, Skip, Tabs, ThemeButton, useArrival } from '../parts/frame'
import { lazy, type Lazy } from '../parts/lazy'
import { Live as Spoken } from '../parts/live'
import { Empty } from '../parts/states'
import { lang, t, useLang } from '../strings'
import { useTheme } from '../theme'
import { go, href, setParams, usePlace } from '../url'
import type { Services } from './api'
import { MOST, useAnswer } from './ask'
import { Findings } from './findings'
import { Runs } from './runs'
import { Services as ServicesScreen } from './services'
import { askAgain, fieldOf, momentText, rfc3339, SPANS, useSpan } from './time'
import { Versions } from './versions'
import './fleet.css'

const Flame = lazy<object>(async () => (await import('./flame')).Flame)

/** The screens in the order of their tabs, with the code that one is fetched by. */
const screens: [name: string, screen: () => JSX.Element, code?: Lazy<object>][] = [
  ['services', ServicesScreen],
  ['findings', Findings],
  ['versions', Versions],
  ['flame', () => <Flame />, Flame],
  ['runs', Runs],
]

const tabs = screens.map(([name, , code]) => (code ? ([name, code] as const) : ([name] as const)))

export function App(): JSX.Element {
  useLang()
  useTheme()
  const { screen, params } = usePlace()
  const [help, setHelp] = useState(false)
  const keys = Object.fromEntries(screens.map(([name], i) => [String(i + 1), () => go(name)]))
  useKeys({ ...keys, r: askAgain, '?': () => setHelp(true) }, [
    [`1 … ${screens.length}`, t('core.help.screens')], ['r', t('fleet.again')], ['Alt ←', t('core.help.back')], ['?', t('core.help.help')],
  ])
  useArrival(screen, params.get('service') ?? undefined)
  const Shown = screens.find(([name]) => name === screen)?.[1]
  return (
    <>
      <header class="head">
        <Skip />
        <a class="head-name" href={href('services')}>gowhy</a>
        <Tenant />
        <Tabs screens={tabs} screen={screen} />
        <TimePicker />
        <div class="head-tools">
          <ThemeButton />
          <LanguageButton />
          <HelpButton help={() => setHelp(true)} />
        </div>
      </header>
      {help && <Help close={() => setHelp(false)} />}
      <main id="main" tabIndex={-1}>
        <h1 class="sr">{Shown ? t(`core.screen.${screen}` as 'core.screen.services') : 'gowhy'}</h1>
        <TimeWrong />
        {Shown ? <Boundary key={screen + lang()}><Shown /></Boundary> : <Empty text={t('core.noscreen')} />}
      </main>
      <Spoken />
    </>
  )
}

function Tenant(): JSX.Element | null {
  const name = useAnswer<Services>('services', { limit: MOST }).data?.tenant
  return name ? <span class="head-run head-run-one clip">{t('fleet.tenant', { name })}</span> : null
}

function TimeWrong(): JSX.Element | null {
  return useSpan().wrong ? <p class="fleet-missing card" role="alert"><span class="mark mark-bad" aria-hidden="true">!</span> {t('fleet.time.wrong')}</p> : null
}

// TimePicker has the spans that end now, and the two fields of any other.
function TimePicker(): JSX.Element {
  const span = useSpan()
  const choose = (choice: string) => {
    if (choice === 'custom') setParams({ span: null, from: rfc3339(span.from), until: rfc3339(span.until) })
    else setParams({ span: choice, from: null, until: null })
  }
  return (
    <div class="fleet-time" role="group" aria-label={t('fleet.time')}>
      <select aria-label={t('fleet.time')} value={span.choice} onChange={(e) => choose(e.currentTarget.value)}>
        {[...(Object.keys(SPANS) as (keyof typeof SPANS)[]), 'custom' as const].map((name) => <option key={name} value={name}>{t(`fleet.time.${name}`)}</option>)}
      </select>
      {span.choice === 'custom'
        ? <><Edge name="from" ms={span.from} /><Edge name="until" ms={span.until} /></>
        : <button type="button" class="quiet" id="again" title={t('fleet.again')} onClick={askAgain}><span aria-hidden="true">↻</span><span class="sr">{t('fleet.again')}, {t('fleet.again.asked')}</span> {momentText(span.until)}</button>}
    </div>
  )
}

function Edge(p: { name: 'from' | 'until'; ms: number }): JSX.Element {
  const [text, setText] = useState(fieldOf(p.ms))
  useEffect(() => setText(fieldOf(p.ms)), [p.ms])
  const set = (value: string) => {
    setText(value)
    const ms = new Date(value).getTime()
    if (Number.isFinite(ms)) setParams({ [p.name]: rfc3339(ms) })
  }
  return <input type="datetime-local" value={text} aria-label={t(`fleet.time.${p.name}`)} title={t(`fleet.time.${p.name}`)} onChange={(e) => set(e.currentTarget.value)} />
}
