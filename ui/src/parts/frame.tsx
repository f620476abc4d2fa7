// The frame of a page, whatever it is of: its tabs, its theme and language, its help,
// and what holds when another screen comes.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError, problem } from '../client'
import { allHelp } from '../keys'
import { lang, setLang, t, tn } from '../strings'
import { setTheme, themeChoice, type Choice } from '../theme'
import { href } from '../url'
import { say } from './live'
import { Failed, Hint } from './states'

/** The first thing that a keyboard meets. */
export function Skip(): JSX.Element {
  return <a class="skip" href="#/" onClick={toMain}>{t('core.skip')}</a>
}

// A link to #main would be a place of the page: the hash is the state.
function toMain(e: Event): void {
  e.preventDefault()
  document.getElementById('main')?.focus()
}

/** The screens, of which one is shown; what a tab may fetch ahead is asked for when a hand comes near. */
export function Tabs(p: { screens: readonly (readonly [name: string, screen?: { load(): void }, ...rest: unknown[]])[]; screen: string }): JSX.Element {
  const nav = useRef<HTMLElement>(null)
  // On a narrow page the screens are scrolled sideways: the current one to the middle,
  // so that those beside it can be seen to be there.
  useLayoutEffect(() => {
    const box = nav.current
    const tab = box?.querySelector('[aria-current]')
    if (!box || !tab) return
    const [outer, inner] = [box.getBoundingClientRect(), tab.getBoundingClientRect()]
    box.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2
  }, [p.screen, p.screens.map(([name]) => name).join(), lang()])
  return (
    <nav class="head-nav" aria-label={t('core.screens')} ref={nav}>
      {p.screens.map(([name, part]) => (
        <a key={name} href={href(name)} aria-current={name === p.screen ? 'page' : undefined} onPointerEnter={part?.load} onFocus={part?.load}>{tn('core.screen.' + name)}</a>
      ))}
    </nav>
  )
}

/** Keeps a fault of one screen from taking the page away. */
export function Boundary(p: { children: ComponentChildren }): JSX.Element {
  const [error, reset] = useErrorBoundary((e) => console.error(e))
  if (error) return <Failed error={new ApiError(t('core.broken', { what: problem(error).message }), '', 0)} retry={reset} />
  return <>{p.children}</>
}

/**
 * Says which screen it is, and of what, and gives the keyboard a place in it when the
 * one it had went away with the screen before.
 */
export function useArrival(screen: string, of: string | undefined): void {
  const first = useRef(true)
  const title = tn('core.screen.' + screen, 'gowhy')
  useEffect(() => {
    document.title = (of ? of + ' · ' : '') + title + ' · gowhy'
  }, [title, of])
  // Before the screen's own effects: what they bring into sight stays there.
  useLayoutEffect(() => {
    if (!first.current) window.scrollTo(0, 0)
  }, [screen])
  useEffect(() => {
    if (first.current) {
      first.current = false
      return
    }
    say(title)
    const lost = document.activeElement === null || document.activeElement === document.body
    if (lost) document.getElementById('main')?.focus({ preventScroll: true })
  }, [screen])
}

/** The theme after the present one, and what the present one is called. */
export function nextTheme(): { choice: Choice; words: string } {
  const next: Record<Choice, Choice> = { auto: 'light', light: 'dark', dark: 'auto' }
  const choice = next[themeChoice()]
  return { choice, words: t('core.theme', { now: t(`core.theme.${choice}`) }) }
}

/** The button of the theme, which is its present one. */
export function ThemeButton(): JSX.Element {
  const choice = themeChoice()
  const theme = nextTheme().words
  return <button type="button" class="quiet" id="theme" title={theme} aria-label={theme} onClick={() => setTheme(nextTheme().choice)}><ThemeIcon choice={choice} /></button>
}

function ThemeIcon(p: { choice: Choice }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {p.choice === 'auto' && <><circle cx="12" cy="12" r="8.5" /><path d="M12 3.5v17a8.5 8.5 0 0 0 0-17z" fill="currentColor" /></>}
      {p.choice === 'light' && <><circle cx="12" cy="12" r="4" /><path d="M12 2.5v2.5M12 19v2.5M2.5 12H5M19 12h2.5M5.3 5.3 7 7M17 17l1.7 1.7M18.7 5.3 17 7M7 17l-1.7 1.7" /></>}
      {p.choice === 'dark' && <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z" />}
    </svg>
  )
}

/** The button of the other language, and what is said when that does not come. */
export function LanguageButton(): JSX.Element {
  const [lost, setLost] = useState(false)
  return (
    <>
      <button type="button" class="quiet" id="lang" title={t('core.lang.title')} lang={lang() === 'en' ? 'zh-CN' : 'en'} onClick={() => void setLang(lang() === 'en' ? 'zh' : 'en').then(() => setLost(false), () => setLost(true))}>{t('core.lang')}</button>
      {lost && <LanguageLost close={() => setLost(false)} />}
    </>
  )
}

function LanguageLost(p: { close(): void }): JSX.Element {
  return (
    <div class="message card" role="alert">
      <p><span class="mark mark-bad" aria-hidden="true">!</span> {t('core.error.part')}</p>
      <Hint text={t('core.error.part.hint')} />
      <button type="button" onClick={p.close}>{t('core.close')}</button>
    </div>
  )
}

export function HelpButton(p: { help(): void }): JSX.Element {
  return <button type="button" class="quiet" id="help" title={t('core.help')} aria-label={t('core.help')} onClick={p.help}>?</button>
}

/** The keys that hold at the moment. */
export function Help(p: { close(): void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  // A click on the dialog itself is one beside its content.
  const close = () => dialog.current?.close() // gives the keyboard back, then tells onClose
  const beside = (e: MouseEvent) => e.target === dialog.current && close()
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={p.close} onClick={beside}>
      <div class="help">
        <div class="help-head">
          <h2 id="help-title">{t('core.help')}</h2>
          <button type="button" onClick={close}>{t('core.close')}</button>
        </div>
        <p class="muted">{t('core.help.text')}</p>
        <dl class="help-keys">
          {allHelp().map(([key, what]) => (
            <div key={key + what}>
              <dt>{key.split(' ').map((k) => (/^[…/+]$/.test(k) && key !== k ? ` ${k} ` : <><kbd>{k}</kbd> </>))}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </div>
    </dialog>
  )
}
