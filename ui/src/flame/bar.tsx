// The choices of any flame graph: the view, and what is searched for.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { useKeys } from '../keys'
import { t } from '../strings'
import { setParams } from '../url'
import { VIEWS, type View } from './place'
import { readQuery } from './search'

/** Whatever is zoomed to belongs to one tree. */
export const NOWHERE = { focus: null, x: null, ufocus: null, ux: null }

export function ViewButtons(p: { v: View }): JSX.Element {
  return (
    <div class="flame-views" role="group" aria-label={t('flame.view')}>
      {VIEWS.map((view) => (
        <button key={view} type="button" aria-pressed={p.v.view === view} onClick={() => setParams(viewPatch(p.v, view))}>
          {t(`flame.view.${view}`)}
        </button>
      ))}
    </div>
  )
}

// The sandwich's pictures are trees of their own: what was zoomed to is not in them.
function viewPatch(v: View, view: View['view']): Record<string, string | null> {
  const patch = { view: view === 'flame' ? null : view, fn: view === 'sandwich' ? v.fn || null : null }
  return view === 'sandwich' || v.view === 'sandwich' ? { ...NOWHERE, ...patch } : patch
}

export function SearchField(p: { v: View }): JSX.Element {
  const field = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => field.current?.focus() }, [])
  const { wrong } = readQuery(p.v.q)
  return (
    <label class="flame-search">
      <span class="flame-word">{t('flame.search')}</span>
      <input
        ref={field}
        type="search"
        value={p.v.q}
        spellcheck={false}
        autocomplete="off"
        placeholder={t('flame.search.hint')}
        aria-invalid={wrong !== ''}
        title={wrong || t('flame.search.help')}
        onInput={(e) => setParams({ q: e.currentTarget.value || null }, { replace: true })}
        onKeyDown={(e) => {
          if (e.key === 'Enter' || e.key === 'Escape') e.currentTarget.blur()
          if (e.key === 'Escape') setParams({ q: null }, { replace: true })
        }}
      />
    </label>
  )
}
