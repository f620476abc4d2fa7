// What is shown where there is no picture: it is on its way, it failed, there is
// nothing.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '../client'
import { t } from '../strings'
import { Command } from './copy'
import './states.css'

/** Says that something is on its way, once it takes longer than a blink. */
export function Loading(p: { what?: string }): JSX.Element {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="state" role="status">
      {late && <><span class="spinner" aria-hidden="true" />{p.what || t('core.loading')}</>}
    </div>
  )
}

/** What is wrong and what to do. */
export function Failed(p: { error: ApiError; retry?: () => void }): JSX.Element {
  return (
    <div class="state state-failed" role="alert">
      <p class="state-what"><span class="mark mark-bad" aria-hidden="true">!</span> {p.error.message}</p>
      {p.error.hint !== '' && <Hint text={p.error.hint} />}
      {p.retry && <button type="button" onClick={p.retry}>{t('core.retry')}</button>}
    </div>
  )
}

/** A hint: a command to paste when it is one, words otherwise. */
export function Hint(p: { text: string }): JSX.Element {
  return /^gowhy(\s|$)/.test(p.text) ? <Command text={p.text} /> : <p class="state-hint">{p.text}</p>
}

/** Says that there is nothing, and perhaps what would bring something. */
export function Empty(p: { text: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="state state-empty">
      <p>{p.text}</p>
      {p.children}
    </div>
  )
}
